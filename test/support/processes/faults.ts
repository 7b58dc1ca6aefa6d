import type { Database, Db } from '../../../src/platform/database/database.ts'
import type { ObjectStore } from '../../../src/platform/object-store/object-store.ts'

const killed = (): Error => new Error('the process is dead')

/**
 * Faults at every step of a request, without a process for each: once it is dead, a server changes neither the database
 * nor the store any more, as after kill -9. What it does then to clean up has no effect either.
 */
export const createFaults = () => {
  let effects = 0
  let killedAfter = Infinity
  let isDead = false
  let operations = 0
  let failing: { from: number; error: () => Error } | undefined

  const requireAlive = (): void => {
    if (isDead) throw killed()
  }
  /** One durable change. The process can die after it, before the caller learns that it was made. */
  const effect = async <T>(work: () => Promise<T>): Promise<T> => {
    requireAlive()
    const result = await work()
    effects += 1
    isDead ||= effects >= killedAfter
    requireAlive()
    return result
  }
  const operate = async <T>(work: () => Promise<T>): Promise<T> => {
    requireAlive()
    operations += 1
    if (failing && operations >= failing.from) throw failing.error()
    return work()
  }
  /** A body during which the store fails. */
  const body = async function* (bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const isFailing = failing !== undefined && operations + 1 >= failing.from
    for await (const chunk of bytes) {
      yield chunk
      if (isFailing && failing) throw failing.error()
    }
  }

  const wrapDb = <T extends Db>(db: T): T =>
    new Proxy(db, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function')
          return typeof value === 'object' && value !== null ? wrapDb(value as Db) : value
        const method = value.bind(target) as (...given: unknown[]) => unknown
        if (key === 'guarded') return (...given: unknown[]) => wrapDb(method(...given) as Database)
        if (key === 'transaction' || key === 'execute' || key === 'row') {
          return (...given: unknown[]) => effect(() => method(...given) as Promise<unknown>)
        }
        if (key !== 'rows') return method
        return (...given: unknown[]) => {
          requireAlive()
          return method(...given)
        }
      },
    })

  return {
    database: (db: Database): Database => wrapDb(db),
    store: (objects: ObjectStore): ObjectStore => ({
      ...objects,
      put: (key, bytes, options) => {
        const sent = body(bytes)
        return effect(async () => {
          if (!failing || operations + 1 < failing.from) return operate(() => objects.put(key, sent, options))
          operations += 1
          return objects.put(key, sent, options)
        })
      },
      get: (key, range) => operate(() => objects.get(key, range)),
      delete: (key) => effect(() => operate(() => objects.delete(key))),
    }),
    /** The process is killed after this many changes, from 1. */
    killAfter: (changes: number): void => {
      effects = 0
      killedAfter = changes
    },
    /** The store fails from this operation on, from 1. */
    failFrom: (from: number, error: () => Error): void => {
      operations = 0
      failing = { from, error }
    },
    /** Whether a fault has happened since it was asked for. */
    hasHappened: (): boolean => isDead || (failing !== undefined && operations >= failing.from),
    /** Another process takes over, and the store works again. */
    recover: (): void => {
      killedAfter = Infinity
      isDead = false
      failing = undefined
    },
  }
}
