import { createHmac } from 'node:crypto'

export const fromBase32 = (text: string): Buffer => {
  const bits = Array.from(text, (digit) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'),
  )
  return Buffer.from(
    bits
      .join('')
      .match(/.{8}/g)
      ?.map((byte) => Number.parseInt(byte, 2)) ?? [],
  )
}

/** The code of RFC 6238 with SHA-1, 30 s and six digits, `steps` time steps from now. */
export const totp = (secret: string, steps = 0): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  return String((mac.readUInt32BE(mac[19]! & 15) & 0x7fffffff) % 1e6).padStart(6, '0')
}
