import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'

// Long, because it does not slow down passing tests, and a busy machine is slow.
const defaultTimeoutMs = 60_000

/** Waits for a condition, and fails with its description on a timeout. */
export function until(what: string, condition: () => boolean | Promise<boolean>, timeoutMs?: number): Promise<void>
/** Reads a value until it satisfies the condition, and returns it. Fails with the last value on a timeout. */
export function until<T>(read: () => T | Promise<T>, isTrue: (value: T) => boolean, timeoutMs?: number): Promise<T>
export async function until(
  first: string | (() => unknown),
  isTrue: (value: unknown) => boolean | Promise<boolean>,
  timeoutMs = defaultTimeoutMs,
): Promise<unknown> {
  const deadline = performance.now() + timeoutMs
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 25)) {
    const value = typeof first === 'string' ? undefined : await first()
    if (await isTrue(value)) return value
    if (performance.now() > deadline) {
      assert.fail(`not within ${timeoutMs} ms: ${typeof first === 'string' ? first : `still ${JSON.stringify(value)}`}`)
    }
    await delay(pauseMs)
  }
}
