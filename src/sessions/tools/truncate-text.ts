const truncateToBytes = (text: string, maxBytes: number): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  // A character that is incomplete at the end decodes to a replacement character.
  return bytes.subarray(0, maxBytes).toString('utf8').replace(/�$/, '')
}

/** Truncates a text to at most `maxBytes` in JSON, where a line break or a quote is two bytes long. */
export const truncateToJsonBytes = (text: string, maxBytes: number): string => {
  let result = truncateToBytes(text, maxBytes)
  for (;;) {
    const size = Buffer.byteLength(JSON.stringify(result)) - 2
    if (size <= maxBytes) return result
    result = truncateToBytes(result, Math.floor((Buffer.byteLength(result) * maxBytes) / size))
  }
}
