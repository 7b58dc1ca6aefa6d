import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import { runInSandbox, SandboxError } from '../../platform/sandbox/sandbox.ts'
import type { SandboxFailure, SandboxLimits } from '../../platform/sandbox/sandbox.ts'
import type { ChildResult } from './child.ts'
import type { Format } from './formats/formats.ts'
import { PreviewError } from './payload.ts'
import type { PreviewPayload } from './payload.ts'

export type ChildLimits = SandboxLimits

export interface ChildRun extends ChildLimits {
  format: Exclude<Format, 'text'>
  source: Readable
  /** Ends the child; the run rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Called with the technical cause, for the log only. */
  onFailure?: (detail: string) => void
}

const entry = join(import.meta.dirname, 'child.ts')

const tooMuchMemory = (): Error => new PreviewError('reading it needs too much memory')

/** The error for the caller, by the failure of the sandbox. */
const failures: Record<SandboxFailure, (cause: unknown) => Error> = {
  time: () => new PreviewError('reading it takes too long'),
  memory: tooMuchMemory,
  // V8 ends the process when its heap is full.
  ended: tooMuchMemory,
  'slow-source': () => serviceUnavailable('The file store is too slow right now. Try again shortly.'),
  source: (cause) =>
    serviceUnavailable('The file cannot be read from the file store right now. Try again shortly.', { cause }),
  start: (cause) => serviceUnavailable('Previews are not available right now. Try again shortly.', { cause }),
}

/** The error for the caller when the process gave no result. */
export const previewFailure = (error: unknown, onFailure?: (detail: string) => void): unknown => {
  if (!(error instanceof SandboxError)) return error
  if (error.failure === 'ended') onFailure?.(error.message)
  return failures[error.failure](error.cause)
}

/** After this part of the time limit, a preview ends with what was read and is marked as truncated. */
const softLimit = { part: 0.7, minMs: 7_000 }

/** Runs the previewer in a sandboxed process. Throws a PreviewError when the file cannot be previewed. */
export const runChild = async ({ format, onFailure, ...run }: ChildRun): Promise<PreviewPayload> => {
  const program = {
    entry,
    args: [format, String(Math.max(softLimit.minMs, run.timeoutMs * softLimit.part))],
    reads: [import.meta.dirname],
  }
  const output = await runInSandbox({ ...run, program }).catch((error: unknown) => {
    throw previewFailure(error, onFailure)
  })
  const result = JSON.parse(output) as ChildResult
  if ('payload' in result) return result.payload
  onFailure?.(result.detail)
  throw new PreviewError(result.error)
}
