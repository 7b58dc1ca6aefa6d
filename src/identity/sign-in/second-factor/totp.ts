import { createHmac, timingSafeEqual } from 'node:crypto'

const periodMs = 30_000

/** The six digits of one time step (RFC 4226, 5.3, with the step number of RFC 6238 as the counter). */
const codeOf = (secret: string, step: number): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const number = mac.readUInt32BE(mac.readUInt8(19) & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

/**
 * The time step of a code: the current one, the one before or the one after, as Better Auth accepts them. Undefined for
 * any other code. Storing the step and accepting only later ones accepts each code once (RFC 6238, 5.2).
 */
export const totpStepOf = (secret: string, code: string, nowMs = Date.now()): number | undefined => {
  const now = Math.floor(nowMs / periodMs)
  const given = Buffer.from(code)
  return [now - 1, now, now + 1].find((step) => {
    const expected = Buffer.from(codeOf(secret, step))
    return expected.length === given.length && timingSafeEqual(expected, given)
  })
}
