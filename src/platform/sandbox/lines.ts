const newline = 10

/**
 * Splits chunks into lines at `\n` only. The module `readline` also splits at U+2028 and U+2029, which JSON contains
 * unescaped: a text of one request could pose as the next one.
 */
export const createLineSplitter = (onLine: (line: string) => void) => {
  let parts: Buffer[] = []
  return (chunk: Buffer): void => {
    let rest = chunk
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)])
      parts = []
      rest = rest.subarray(end + 1)
      onLine(line.toString())
    }
    if (rest.length > 0) parts.push(rest)
  }
}
