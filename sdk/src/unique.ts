/** 128 random bits in hex. `crypto.randomUUID` exists only in secure contexts (https); `getRandomValues` exists everywhere. */
export const uniqueKey = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
