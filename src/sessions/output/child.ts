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

const validate = ({ schema, text }: OutputQuestion): string[] => {
  let value: unknown
  try {
    value = parseForeignJson(text)
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
