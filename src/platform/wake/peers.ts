/** Whoever can write to the channel must not fill the memory of this process. */
const maxPeers = 1_000

/**
 * Which other processes listen to which topics, from their announcements. While no other process listens, nothing is sent:
 * a single process with an external database costs one small message every 10 s.
 */
export const createPeers = (silentMs: number) => {
  const now = (): number => performance.now()
  const peers = new Map<string, { topics: ReadonlySet<string>; seenAtMs: number }>()
  return {
    seen: (id: string, topics: string[]): void => {
      if (peers.has(id) || peers.size < maxPeers) peers.set(id, { topics: new Set(topics), seenAtMs: now() })
    },
    gone: (id: string): void => {
      peers.delete(id)
    },
    /** Whether another process listens to the topic. */
    listen: (topic: string): boolean => {
      for (const peer of peers.values()) if (peer.topics.has(topic)) return true
      return false
    },
    forgetSilent: (): void => {
      for (const [id, { seenAtMs }] of peers) if (now() - seenAtMs > silentMs) peers.delete(id)
    },
  }
}
