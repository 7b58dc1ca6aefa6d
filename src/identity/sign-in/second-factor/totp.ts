import { createHmac, timingSafeEqual } from 'node:crypto'

const periodMs = 30_000

/** The six digits of one time step (RFC 4226, 5.3, over the step number as RFC 6238 has it). */
const codeOf = (secret: string, step: number): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const number = mac.readUInt32BE(mac.readUInt8(19) & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

/**
 * The time step that a code stands for: of now, one before or one after, as sign-in accepts them. Undefined for any
 * other code. Whoever remembers the step and takes only later ones takes each code once (RFC 6238, 5.2).
 */
export const totpStepOf = (secret: string, code: string, nowMs = Date.now()): number | undefined => {
  const now = Math.floor(nowMs / periodMs)
  const given = Buffer.from(code)
  return [now - 1, now, now + 1].find((step) => {
    const expected = Buffer.from(codeOf(secret, step))
    return expected.length === given.length && timingSafeEqual(expected, given)
  })
}
