/** Splits a text into messages of at most `maxLength` UTF-16 units, at a blank line, line break or space if possible. */
export const splitText = (text: string, maxLength: number): string[] => {
  const parts: string[] = []
  let rest = text.trim()
  while (rest.length > maxLength) {
    const head = rest.slice(0, maxLength + 1)
    const found = ['\n\n', '\n', ' '].map((gap) => head.lastIndexOf(gap)).find((index) => index > maxLength / 2)
    // A cut between the two units of a surrogate pair would send two invalid characters.
    const isPair = /[\uD800-\uDBFF]/.test(rest[maxLength - 1] ?? '')
    const end = found ?? (isPair ? maxLength - 1 : maxLength)
    parts.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).trimStart()
  }
  if (rest !== '') parts.push(rest)
  return parts
}
