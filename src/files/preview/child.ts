// Entry point of the sandboxed process, which reads one file and exits. It reads the bytes from standard input and writes one
// line of JSON. Its arguments are the format, and the milliseconds after which it returns what it has read so far. It has no
// environment and cannot open other files, sockets or processes, so that an exploited parser bug gives no access to anything
// else.
import { extract } from './extract.ts'
import type { Format } from './formats/formats.ts'
import { PreviewError } from './payload.ts'
import type { PreviewPayload } from './payload.ts'

export type ChildResult = { payload: PreviewPayload } | { error: string; detail: string }

const began = performance.now()
const isLate = (): boolean => performance.now() - began > Number(process.argv[3])

const detailOf = (error: unknown): string => {
  const cause = error instanceof PreviewError ? (error.cause ?? error) : error
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}

const run = async (): Promise<ChildResult> => {
  try {
    const format = process.argv[2] as Exclude<Format, 'text'>
    return { payload: await extract(format, process.stdin as AsyncIterable<Buffer>, isLate) }
  } catch (error) {
    return { error: (error as Error).message, detail: detailOf(error).slice(0, 2_000) }
  }
}

process.stdout.end(JSON.stringify(await run()), () => process.exit(0))
