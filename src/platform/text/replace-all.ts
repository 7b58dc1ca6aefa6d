/** For each prefix of the pattern, the length of its longest end that is also its beginning (Knuth, Morris and Pratt). */
const bordersOf = (pattern: string): Int32Array => {
  const borders = new Int32Array(pattern.length)
  let length = 0
  for (let at = 1; at < pattern.length; at++) {
    while (length > 0 && pattern.charCodeAt(at) !== pattern.charCodeAt(length)) length = borders[length - 1] as number
    if (pattern.charCodeAt(at) === pattern.charCodeAt(length)) length += 1
    borders[at] = length
  }
  return borders
}

/** Up to this length, the search of the engine needs some milliseconds for a megabyte, also for the worst text. */
const shortLength = 200

/**
 * As `text.replaceAll`, for a pattern that a stranger chose. The time of the engine's search grows with the product of both
 * lengths: 10 s for a pattern of 16,000 characters in a text of 1 MB. Here it grows with their sum.
 */
export const replaceAllLinear = (text: string, pattern: string, replacement: string): string => {
  if (pattern.length <= shortLength) return text.replaceAll(pattern, () => replacement)
  const from = text.indexOf(pattern.slice(0, shortLength))
  if (from === -1) return text
  const borders = bordersOf(pattern)
  const pieces: string[] = []
  let copied = 0
  let matched = 0
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    while (matched > 0 && code !== pattern.charCodeAt(matched)) matched = borders[matched - 1] as number
    if (code === pattern.charCodeAt(matched)) matched += 1
    if (matched < pattern.length) continue
    pieces.push(text.slice(copied, at + 1 - pattern.length))
    copied = at + 1
    matched = 0
  }
  return pieces.length === 0 ? text : [...pieces, text.slice(copied)].join(replacement)
}
