import { createVectorThread } from './vector-thread.ts'
import type { VectorThread } from './vector-thread.ts'

export interface VectorThreads {
  /** Like that of a thread. */
  ask(orgId: string, ...call: Parameters<VectorThread['ask']>): ReturnType<VectorThread['ask']>
  close(): Promise<void>
}

interface Place {
  thread: VectorThread
  /** The org of each running call. */
  calls: string[]
}

/**
 * Threads that are started on demand. An org has one for itself unless more orgs than threads have running calls: its large
 * vectors do not delay the calls of others, and do not end them when its thread has no more memory.
 */
export const createVectorThreads = ({
  threads = 4,
  ...options
}: { threads?: number; heapMegabytes?: number } = {}): VectorThreads => {
  const places: Place[] = Array.from({ length: threads }, () => ({ thread: createVectorThread(options), calls: [] }))
  // The first of several that are free, so that a server with few calls has one thread.
  const placeOf = (orgId: string): Place | undefined =>
    places.find(({ calls }) => calls.includes(orgId)) ?? places.toSorted((a, b) => a.calls.length - b.calls.length)[0]

  return {
    ask: async (orgId, ...call) => {
      const place = placeOf(orgId)
      if (!place) throw new TypeError('there must be a thread')
      place.calls.push(orgId)
      try {
        return await place.thread.ask(...call)
      } finally {
        place.calls.splice(place.calls.indexOf(orgId), 1)
      }
    },
    close: async () => void (await Promise.all(places.map(({ thread }) => thread.close()))),
  }
}
