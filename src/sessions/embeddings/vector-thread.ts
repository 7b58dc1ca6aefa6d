import { Worker } from 'node:worker_threads'
import type {
  FromThread,
  ProviderRequest,
  ProviderResponse,
  ToThread,
  VectorCall,
  VectorFault,
  Vectors,
} from './protocol.ts'

export interface VectorThread {
  /**
   * The vectors of a call, or why there are none. `send` makes its request to the provider; when it rejects, so does the
   * call. Rejects when the thread dies, for example because it has no more memory: the next call starts another one.
   */
  ask(
    call: VectorCall,
    send: (request: ProviderRequest) => Promise<ProviderResponse>,
    signal: AbortSignal,
  ): Promise<Vectors | VectorFault>
  close(): Promise<void>
}

/** After this long without a call, the thread ends: it takes 40 MB. */
const idleMs = 60_000

interface Call {
  send(request: ProviderRequest): Promise<ProviderResponse>
  resolve(result: Vectors | VectorFault): void
  reject(error: unknown): void
}

/** `heapMegabytes`: while it reads a response of 64 MB, the thread needs five times as much. */
export const createVectorThread = ({ heapMegabytes = 1_024 } = {}): VectorThread => {
  const calls = new Map<number, Call>()
  let thread: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let lastId = 0

  const tell = (to: Worker, message: ToThread, transfer: ArrayBuffer[] = []): void => to.postMessage(message, transfer)

  const request = async (from: Worker, id: number, asked: ProviderRequest): Promise<void> => {
    const call = calls.get(id)
    if (!call) return
    try {
      const response = await call.send(asked)
      tell(from, { id, response }, [response.body.buffer])
    } catch (error) {
      call.reject(error)
    }
  }

  const start = (): Worker => {
    const started = new Worker(new URL('thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    })
    started.unref()
    const dies = (error: Error): void => {
      if (thread !== started) return
      thread = undefined
      for (const call of calls.values()) call.reject(error)
    }
    started.on('message', (message: FromThread) => {
      if ('request' in message) void request(started, message.id, message.request)
      else calls.get(message.id)?.resolve('vectors' in message ? message.vectors : message.fault)
    })
    started.on('error', (error) => dies(error as Error))
    started.on('exit', () => dies(new Error('the thread for vectors has ended')))
    return started
  }

  const stop = async (): Promise<void> => {
    const ended = thread
    thread = undefined
    await ended?.terminate()
  }

  return {
    ask: async (call, send, signal) => {
      signal.throwIfAborted()
      clearTimeout(idle)
      thread ??= start()
      const asked = thread
      lastId += 1
      const id = lastId
      const { promise, resolve, reject } = Promise.withResolvers<Vectors | VectorFault>()
      const abort = (): void => {
        tell(asked, { id, cancel: true })
        reject(signal.reason)
      }
      signal.addEventListener('abort', abort, { once: true })
      calls.set(id, { send, resolve, reject })
      tell(asked, { id, call })
      try {
        return await promise
      } catch (error) {
        if (thread === asked) tell(asked, { id, cancel: true })
        throw error
      } finally {
        signal.removeEventListener('abort', abort)
        calls.delete(id)
        if (calls.size === 0) idle = setTimeout(() => void stop(), idleMs).unref()
      }
    },
    close: async () => {
      clearTimeout(idle)
      for (const call of calls.values()) call.reject(new Error('the server is stopping'))
      await stop()
    },
  }
}
