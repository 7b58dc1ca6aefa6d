// A comment, a dollar-quoted text, a quoted text or name, a semicolon, or anything else up to the next of these.
const parts =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|"(?:[^"]|"")*"|;|[^-/$'";]+|[-/$]/g

/**
 * The statements of an SQL script, without comments and final semicolons. Not for bodies in the form BEGIN ATOMIC, whose
 * semicolons are not quoted.
 */
export const splitStatements = (script: string): string[] => {
  const statements: string[] = []
  let current = ''
  for (const [part] of script.matchAll(parts)) {
    if (part === ';') {
      statements.push(current)
      current = ''
    } else if (!part.startsWith('--') && !part.startsWith('/*')) current += part
  }
  statements.push(current)
  return statements.map((text) => text.trim()).filter((text) => text !== '')
}
