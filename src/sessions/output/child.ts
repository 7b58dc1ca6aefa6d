// Entry point of the sandboxed process that validates replies against the schemas of callers, for all orgs. It reads one
// question per line and writes one reply per line. Limits of time and memory are enforced from outside.
import { Errors } from 'typebox/schema'
import { JsonTooDeep, maxJsonDepth, parseForeignJson } from '../../platform/http/json-depth.ts'
import { createLineSplitter } from '../../platform/sandbox/lines.ts'
import type { OutputQuestion, OutputReply } from './protocol.ts'

const maxMistakes = 10
const maxLength = 300

/** Names from the reply are quoted and cut: they go into an error message. */
const short = (text: string): string => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text)

/** Without a prototype, so that a property of every object, such as `toString`, does not count as one of the reply. */
const bare = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(bare)
  const copy = Object.create(null) as Record<string, unknown>
  for (const [key, inner] of Object.entries(value)) copy[key] = bare(inner)
  return copy
}

const validate = ({ schema, text }: OutputQuestion): string[] => {
  let value: unknown
  try {
    value = bare(parseForeignJson(text))
  } catch (error) {
    if (error instanceof JsonTooDeep) return [`The JSON is nested deeper than ${maxJsonDepth} levels.`]
    return ['The text is not JSON.']
  }
  try {
    const [isValid, errors] = Errors(schema, value)
    if (isValid) return []
    const mistakes = errors.map(({ instancePath, message }) => short(`${instancePath || 'The value'} ${message}.`))
    return [...new Set(mistakes)].slice(0, maxMistakes)
  } catch (error) {
    if (error instanceof RangeError) return ['The schema refers to itself without end.']
    throw error
  }
}

validate({ schema: { type: 'object' }, text: '{}' })
process.stdout.write('ready\n')
const split = createLineSplitter((line) => {
  const mistakes = validate(JSON.parse(line) as OutputQuestion)
  process.stdout.write(`${JSON.stringify({ mistakes } satisfies OutputReply)}\n`)
})
for await (const chunk of process.stdin) split(chunk as Buffer)
