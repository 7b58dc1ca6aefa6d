// The process that reads one file and ends. It gets the bytes by its standard input and the format by its argument,
// and answers one line of JSON. It has no environment, may open no file but the program's own, no socket and no
// process: a fault in a parser has nothing to reach for.
import { extract } from './extract.ts'
import type { Format } from './formats/formats.ts'
import { Refusal, limits } from './payload.ts'
import type { PreviewPayload } from './payload.ts'

export type ChildAnswer = { payload: PreviewPayload } | { refused: string; detail: string }

const began = performance.now()
const isLate = (): boolean => performance.now() - began > limits.softTimeoutMs

const detailOf = (error: unknown): string => {
  const cause = error instanceof Refusal ? (error.cause ?? error) : error
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}

const answer = async (): Promise<ChildAnswer> => {
  try {
    const format = process.argv[2] as Exclude<Format, 'text'>
    return { payload: await extract(format, process.stdin as AsyncIterable<Buffer>, isLate) }
  } catch (error) {
    return { refused: (error as Error).message, detail: detailOf(error).slice(0, 2_000) }
  }
}

process.stdout.end(JSON.stringify(await answer()), () => process.exit(0))
