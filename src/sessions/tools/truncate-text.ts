const truncateToBytes = (text: string, maxBytes: number): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  // An incomplete character at the end decodes to a replacement character.
  return bytes.subarray(0, maxBytes).toString('utf8').replace(/�$/, '')
}

/** A beginning of a text that takes at most `maxBytes` in JSON, where a line break or a quote takes two bytes. */
export const truncateToJsonBytes = (text: string, maxBytes: number): string => {
  let result = truncateToBytes(text, maxBytes)
  for (;;) {
    const size = Buffer.byteLength(JSON.stringify(result)) - 2
    if (size <= maxBytes) return result
    result = truncateToBytes(result, Math.floor((Buffer.byteLength(result) * maxBytes) / size))
  }
}
