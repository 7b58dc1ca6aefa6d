import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'

/** Waits for a condition, and fails with its description when it does not come true in time. */
export const until = async (
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 20_000,
): Promise<void> => {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `not within ${timeoutMs} ms: ${what}`)
    await delay(5)
  }
}
