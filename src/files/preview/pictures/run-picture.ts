import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { runInSandbox } from '../../../platform/sandbox/sandbox.ts'
import type { SandboxLimits } from '../../../platform/sandbox/sandbox.ts'
import { previewFailure } from '../child-process.ts'
import { PreviewError } from '../payload.ts'
import type { PictureResult } from './child.ts'

/** A picture in a size and format that every provider of models accepts. */
export interface Picture {
  mimeType: 'image/jpeg' | 'image/png'
  width: number
  height: number
  bytes: Buffer
}

export interface PictureRun extends SandboxLimits {
  source: Readable
  signal: AbortSignal
  /** Called with the technical cause, for the log only. */
  onFailure: (detail: string) => void
}

// The decoder is native code (libvips): a bug in it must not end or read the server process.
const program = {
  entry: join(import.meta.dirname, 'child.ts'),
  reads: [import.meta.dirname],
  allowsNative: true,
}

/** Decodes and resizes a picture in a sandboxed process. Throws a PreviewError when it cannot be read. */
export const runPicture = async ({ onFailure, ...run }: PictureRun): Promise<Picture> => {
  const output = await runInSandbox({ ...run, program }).catch((error: unknown) => {
    throw previewFailure(error, onFailure)
  })
  const result = JSON.parse(output) as PictureResult
  if ('base64' in result) {
    const { base64, ...picture } = result
    return { ...picture, bytes: Buffer.from(base64, 'base64') }
  }
  onFailure(result.detail)
  throw new PreviewError(result.error)
}
