/** Deeper values are written on one line: their indentation would be many times longer than they are. */
const maxIndentedDepth = 32

const isDeep = (json: string): boolean => {
  let depth = 0
  let isInText = false
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index]
    if (isInText) {
      if (character === '\\') index += 1
      else if (character === '"') isInText = false
    } else if (character === '"') isInText = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    if (depth > maxIndentedDepth) return true
  }
  return false
}

/** A value as JSON for people to read. Empty without a value. */
export const jsonText = (value: unknown): string => {
  // Without indentation, JSON.stringify writes values of any depth.
  const json = JSON.stringify(value) as string | undefined
  if (json === undefined) return ''
  return isDeep(json) ? json : JSON.stringify(value, undefined, 2)
}
