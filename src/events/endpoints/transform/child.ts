// Entry point of the sandboxed process that evaluates transforms of event endpoints, for all orgs. It reads one question per
// line and writes one reply per line. Limits of time and memory are enforced from outside: by the process that started it.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createContext, Script } from 'node:vm'
import type { Context } from 'node:vm'
import { createLineSplitter } from '../../../platform/sandbox/lines.ts'
import { evaluationMs, maxResultBytes } from './protocol.ts'
import type { TransformFault, TransformQuestion, TransformReply } from './protocol.ts'

const jsonataFile = fileURLToPath(import.meta.resolve('jsonata'))
const jsonata = new Script(readFileSync(jsonataFile, 'utf8'), { filename: 'jsonata.js' })

/**
 * Runs in the realm of one endpoint. Everything that it returns is a string, so that no object leaves the realm.
 *
 * - `new Date()` is the time of the event, so that `$now` and `$millis` are the same on every attempt.
 * - `Date.now`, which limits the evaluation, is CPU time: a busy machine must not make a transform fail. It is called for each
 *   node of the expression and read for every 64th: reading it each time took 10 of 16 ms for a path over 18,000 rows.
 * - Functions that run other code or differ between attempts do not exist. Regular expressions can take exponential time.
 */
const runner = new Script(
  `'use strict';
  (() => {
    const { jsonata } = globalThis
    const { cpuMs, limits } = globalThis
    const RealDate = Date
    let eventMs = 0
    let calls = 0
    let now = 0
    globalThis.Date = class Date extends RealDate {
      constructor(...given) {
        super(...(given.length === 0 ? [eventMs] : given))
      }
      static now() {
        if (calls % 64 === 0) now = cpuMs()
        calls += 1
        return now
      }
    }
    const fail = (message, position) => {
      throw { code: null, position, message }
    }
    const absent = ['eval', 'random', 'shuffle']
    const check = (node) => {
      if (typeof node !== 'object' || node === null) return
      if (node.type === 'regex') fail('Regular expressions are not available.', node.position)
      if (node.type === 'variable' && absent.includes(node.value))
        fail('The function $' + node.value + ' is not available.', node.position)
      for (const inner of Object.values(node)) check(inner)
    }
    class NoRegex {
      constructor() {
        fail('Regular expressions are not available.')
      }
    }
    const options = { timeout: limits.ms, stack: 500, sequence: 100000, RegexEngine: NoRegex }
    const withoutFunctions = (_key, value) => {
      if (typeof value === 'function' || value?._jsonata_function === true || value?._jsonata_lambda === true)
        fail('The result contains a function.')
      return value
    }
    const faultOf = (error) => {
      if (error instanceof RangeError) {
        const isTooDeep = /call stack/.test(error.message)
        return isTooDeep
          ? { code: 'D1011', position: null, message: 'The recursion is too deep.' }
          : { code: null, position: null, message: 'The result of a function is too large.' }
      }
      const { code, position, message } = Object(error)
      return {
        code: typeof code === 'string' ? code : null,
        position: typeof position === 'number' ? position : null,
        message: typeof message === 'string' ? message.slice(0, 500) : 'The transform failed.',
      }
    }
    const evaluate = async (transform, text) => {
      const expression = jsonata(transform, options)
      check(expression.ast())
      if (text === null) return { body: null }
      const event = JSON.parse(text)
      eventMs = RealDate.parse(event.timestamp) || 0
      calls = 0
      const result = await expression.evaluate(event, { eval: undefined, random: undefined, shuffle: undefined })
      if (typeof result !== 'object' || result === null || Array.isArray(result)) fail('The result is not an object.')
      const body = JSON.stringify(result, withoutFunctions)
      if (typeof body !== 'string' || body[0] !== '{') fail('The result is not an object.')
      return { body }
    }
    return async (transform, text) => {
      try {
        return JSON.stringify(await evaluate(transform, text))
      } catch (error) {
        return JSON.stringify({ fault: faultOf(error) })
      }
    }
  })()`,
  { filename: 'runner.js' },
)

type Run = (transform: string, event: string | null) => Promise<string>

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const createRealm = (): Run => {
  const realm: Context = createContext(
    { window: { btoa, atob }, cpuMs, limits: { ms: evaluationMs } },
    { codeGeneration: { strings: false, wasm: false } },
  )
  // With `window` the package defines itself there, as in a browser.
  jsonata.runInContext(realm)
  realm['jsonata'] = (realm['window'] as { jsonata: unknown }).jsonata
  return runner.runInContext(realm) as Run
}

const neverEnds: TransformFault = { code: null, position: null, message: 'The result never becomes available.' }
const tooLarge: TransformFault = { code: null, position: null, message: 'The result is larger than 1.5 MB.' }

// The realm of the last question: the next one with the same key costs a seventh. A transform could change the functions of
// its realm, so no other one may use it.
let last: { key: string; run: Run } | undefined

const answer = async ({ key, transform, event }: TransformQuestion): Promise<string> => {
  const realmKey = `${key} ${transform}`
  if (last?.key !== realmKey) last = { key: realmKey, run: createRealm() }
  // A realm has no timers and no input, so what has not ended when there is no work left never ends. Work that the transform
  // left behind ends before the reply, or it would use up the time of the next question.
  let line = JSON.stringify({ fault: neverEnds } satisfies TransformReply)
  void last.run(transform, event).then((ended) => (line = ended))
  await new Promise(setImmediate)
  const reply = JSON.parse(line) as TransformReply
  const isTooLarge = 'body' in reply && reply.body !== null && Buffer.byteLength(reply.body) > maxResultBytes
  return isTooLarge ? JSON.stringify({ fault: tooLarge } satisfies TransformReply) : line
}

process.on('unhandledRejection', () => undefined)
await answer({ key: '', transform: '{ "id": id, "at": $now() }', event: '{"timestamp":"2026-01-01T00:00:00.000Z"}' })
process.stdout.write('ready\n')
const split = createLineSplitter((line) => {
  void answer(JSON.parse(line) as TransformQuestion).then((reply) => process.stdout.write(`${reply}\n`))
})
for await (const chunk of process.stdin) split(chunk as Buffer)
