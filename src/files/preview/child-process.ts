import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import { runInSandbox, SandboxError } from '../../platform/sandbox/sandbox.ts'
import type { SandboxFailure, SandboxLimits } from '../../platform/sandbox/sandbox.ts'
import type { ChildAnswer } from './child.ts'
import type { Format } from './formats/formats.ts'
import { Refusal } from './payload.ts'
import type { PreviewPayload } from './payload.ts'

export type ChildLimits = SandboxLimits

export interface ChildRun extends ChildLimits {
  format: Exclude<Format, 'text'>
  source: Readable
  /** Ends the child; the answer is the signal's reason. */
  signal?: AbortSignal | undefined
  /** Told what was wrong with a file: for the log, not for the caller. */
  onRefusal?: (detail: string) => void
}

const entry = join(import.meta.dirname, 'child.ts')

const tooMuchMemory = (): Error => new Refusal('reading it takes too much memory')

/** What a failure of the process means for the file, or for whoever asked. */
const failures: Record<SandboxFailure, (cause: unknown) => Error> = {
  time: () => new Refusal('reading it takes too long'),
  memory: tooMuchMemory,
  // The engine ends the process when its heap is full, the kernel when the processor time is used up.
  ended: tooMuchMemory,
  'slow-source': () => serviceUnavailable('The file store is too slow right now. Try again shortly.'),
  source: (cause) => serviceUnavailable('The file cannot be read from its store right now.', { cause }),
  start: (cause) => serviceUnavailable('Previews cannot be made right now.', { cause }),
}

/** What the child says, unless something ended it first. Throws a Refusal when the file is to blame. */
export const runChild = async ({ format, onRefusal, ...run }: ChildRun): Promise<PreviewPayload> => {
  const program = { entry, args: [format], reads: [import.meta.dirname] }
  const output = await runInSandbox({ ...run, program }).catch((error: unknown) => {
    if (!(error instanceof SandboxError)) throw error
    if (error.failure === 'ended') onRefusal?.(error.message)
    throw failures[error.failure](error.cause)
  })
  const answer = JSON.parse(output) as ChildAnswer
  if ('payload' in answer) return answer.payload
  onRefusal?.(answer.detail)
  throw new Refusal(answer.refused)
}
