import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../ids.ts'
import type { Log } from '../process/log.ts'
import { decodeHints, encodeHints } from './messages.ts'
import { createPeers } from './peers.ts'
import type { WakeMessage, WakeTransport } from './transport.ts'

/**
 * - `jobs`: a kind of job that was enqueued.
 * - `deliveries`: `<org>/<webhook>` with new deliveries.
 * - `turns`: a turn with new lines, followed by `!` when its stream has ended.
 * - `readers`: a turn whose stream is read.
 * - `stops`: a turn that was cancelled.
 * - `events`: an org with new events in its log.
 * - `uploads`: a file whose direct upload was verified.
 */
export type WakeTopic = 'jobs' | 'deliveries' | 'turns' | 'readers' | 'stops' | 'events' | 'uploads'

/**
 * Wakes other processes after a commit, so that they need not wait for their next poll. A wake-up is a hint: it may be
 * lost, repeated or forged. The receiver reads the database, which alone decides, and polls as well.
 */
export interface Wakeups {
  /** Sends a hint to the other processes that listen to the topic, within milliseconds. Call it after the commit. */
  publish(topic: WakeTopic, hint: string): void
  /** Hints of other processes only, never of this one. Call it before `start`. */
  subscribe(topic: WakeTopic, listener: (hint: string) => void): void
  /** Whether messages arrive, as far as this process knows: then polls may be less frequent. */
  isHealthy(): boolean
  /** Connects in the background. Until then nothing is sent and nothing arrives. */
  start(): void
  close(): Promise<void>
}

export interface WakeupOptions {
  transport: WakeTransport
  log: Log
  announceEveryMs?: number
}

/** Hints within this time share a message. It bounds the messages of a process to 250 per second. */
const gapMs = 4
/** Beyond this many waiting hints, further ones are dropped and the polls of the receivers find the work. */
const maxWaiting = 10_000

/** Announcements are sent this often, and on every new connection. */
const announceMs = 10_000
/** After a message that could not be sent, an announcement finds out this much later whether messages arrive. */
const retryMs = 1_000

const channelPrefix = 'atrium_'
const presence = 'presence'

/** Collects hints and sends them: the first one at once, those of the next 4 ms or during a send together. */
const createOutbox = (id: string, transport: WakeTransport, onError: (error: unknown) => void) => {
  const waiting = new Map<string, Set<string>>()
  let size = 0
  let sending: Promise<void> | undefined

  const drain = async (): Promise<void> => {
    // Hints of the same turn of the event loop share the first message.
    await Promise.resolve()
    while (waiting.size > 0) {
      const messages: WakeMessage[] = [...waiting].flatMap(([topic, hints]) =>
        encodeHints(id, hints).map((payload) => ({ channel: channelPrefix + topic, payload })),
      )
      waiting.clear()
      size = 0
      const nextAt = delay(gapMs)
      try {
        await transport.send(messages)
      } catch (error) {
        onError(error)
      }
      await nextAt
    }
    sending = undefined
  }

  return {
    add: (topic: string, hint: string): void => {
      const hints = waiting.get(topic) ?? new Set()
      if (size >= maxWaiting || hints.has(hint)) return
      waiting.set(topic, hints.add(hint))
      size += 1
      sending ??= drain()
    },
    idle: (): Promise<void> => sending ?? Promise.resolve(),
  }
}

type Topics = Map<WakeTopic, ((hint: string) => void)[]>

/** Whether messages arrive. The first failure and the recovery are logged. */
const createHealth = (log: Log) => {
  let isConnected = false
  let isReported = false
  let heardAtMs = 0
  return {
    isConnected: (): boolean => isConnected,
    /** Milliseconds since a message of this process itself arrived, or since `wait`. */
    silentMs: (): number => performance.now() - heardAtMs,
    wait: (): void => {
      heardAtMs = performance.now()
    },
    heard: (): void => {
      heardAtMs = performance.now()
      if (!isConnected && isReported) log.info('processes can wake each other')
      isConnected = true
      isReported = false
    },
    failed: (error: unknown): void => {
      isConnected = false
      if (isReported) return
      isReported = true
      log.warn({ err: error }, 'processes cannot wake each other: work of other processes is found by polling')
    },
    close: (): void => {
      isConnected = false
    },
  }
}

export const createWakeups = ({ transport, log, announceEveryMs = announceMs }: WakeupOptions): Wakeups => {
  const id = newId()
  // A process that was silent for three announcements is gone.
  const peers = createPeers(announceEveryMs * 3.5)
  const topics: Topics = new Map()
  const health = createHealth(log)
  let timer: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined

  const outbox = createOutbox(id, transport, (error) => {
    health.failed(error)
    clearTimeout(retry)
    retry = setTimeout(() => announce('here'), retryMs).unref()
  })
  const announce = (kind: 'here' | 'new' | 'gone'): void => outbox.add(presence, [kind, ...topics.keys()].join(' '))

  const hear = (sender: string, hint: string): void => {
    const [kind, ...theirs] = hint.split(' ')
    if (sender === id) health.heard()
    else if (kind === 'gone') peers.gone(sender)
    else {
      peers.seen(sender, theirs)
      if (kind === 'new') announce('here')
    }
  }

  const receive = ({ channel, payload }: WakeMessage): void => {
    const topic = channel.slice(channelPrefix.length)
    const message = decodeHints(payload)
    if (!message || !channel.startsWith(channelPrefix)) return
    if (topic === presence) {
      for (const hint of message.hints) hear(message.sender, hint)
      return
    }
    if (message.sender === id) return
    for (const listener of topics.get(topic as WakeTopic) ?? []) for (const hint of message.hints) listener(hint)
  }

  // A connection can be open and carry nothing. A process hears its own announcements, unless that is the case.
  const check = (): void => {
    if (health.silentMs() > announceEveryMs * 2.5) {
      health.failed(new Error('no message arrives'))
      health.wait()
      transport.reconnect()
    }
    peers.forgetSilent()
    announce('here')
  }

  return {
    publish: (topic, hint) => {
      if (health.isConnected() && peers.listen(topic)) outbox.add(topic, hint)
    },
    subscribe: (topic, listener) => {
      if (timer !== undefined) throw new Error('subscribed after start')
      topics.set(topic, [...(topics.get(topic) ?? []), listener])
    },
    isHealthy: health.isConnected,
    start: () => {
      health.wait()
      transport.open({
        channels: [presence, ...topics.keys()].map((topic) => channelPrefix + topic),
        onMessage: receive,
        onConnected: () => announce('new'),
        onError: health.failed,
      })
      timer = setInterval(check, announceEveryMs).unref()
    },
    close: async () => {
      clearInterval(timer)
      if (timer !== undefined) {
        announce('gone')
        await outbox.idle()
      }
      clearTimeout(retry)
      health.close()
      await transport.close()
    },
  }
}

/** For processes that are alone on their database. */
export const noWakeups: Wakeups = {
  publish: () => undefined,
  subscribe: () => undefined,
  isHealthy: () => false,
  start: () => undefined,
  close: async () => undefined,
}
