const cutToBytes = (text: string, maxBytes: number): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  // A character that was cut in two decodes to a replacement character.
  return bytes.subarray(0, maxBytes).toString('utf8').replace(/�$/, '')
}

/** As much of the beginning of a text as has `maxBytes` in JSON, where a line break or a quote takes two. */
export const cutToJsonBytes = (text: string, maxBytes: number): string => {
  let cut = cutToBytes(text, maxBytes)
  for (;;) {
    const size = Buffer.byteLength(JSON.stringify(cut)) - 2
    if (size <= maxBytes) return cut
    cut = cutToBytes(cut, Math.floor((Buffer.byteLength(cut) * maxBytes) / size))
  }
}
