import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { runInSandbox } from '../../../platform/sandbox/sandbox.ts'
import type { SandboxLimits } from '../../../platform/sandbox/sandbox.ts'
import { previewFailure } from '../child-process.ts'
import { PreviewError } from '../payload.ts'
import type { ImageResult, LogoResult, PictureFailure, PictureResult } from './child.ts'
import type { ImageSpec } from './image-spec.ts'

/** A picture in a size and format that every provider of models accepts. */
export interface Picture {
  mimeType: 'image/jpeg' | 'image/png'
  width: number
  height: number
  bytes: Buffer
}

/** A picture in a size and format that a client asks for. */
export interface Image extends Omit<Picture, 'mimeType'> {
  mimeType: string
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
  reads: [import.meta.dirname, ...['payload.ts', 'open-pdf.ts'].map((name) => join(import.meta.dirname, '..', name))],
  allowsNative: true,
}

const read = async <Result extends object>(
  args: ['picture' | 'logo'] | ['image' | 'pdf', spec: string],
  { onFailure, ...run }: PictureRun,
): Promise<Exclude<Result, PictureFailure>> => {
  const output = await runInSandbox({ ...run, program: { ...program, args } }).catch((error: unknown) => {
    throw previewFailure(error, onFailure)
  })
  const result = JSON.parse(output) as Exclude<Result, PictureFailure> | PictureFailure
  if (!('error' in result)) return result
  onFailure(result.detail)
  throw new PreviewError(result.error)
}

/** Decodes and resizes a picture in a sandboxed process. Throws a PreviewError when it cannot be read. */
export const runPicture = async (run: PictureRun): Promise<Picture> => {
  const { base64, ...picture } = await read<PictureResult>(['picture'], run)
  return { ...picture, bytes: Buffer.from(base64, 'base64') }
}

/** Decodes and resizes a picture in the same way, or renders the first page of a PDF, to a size and format of choice. */
export const runImage = async (kind: 'image' | 'pdf', spec: ImageSpec, run: PictureRun): Promise<Image> => {
  const { base64, ...image } = await read<ImageResult>([kind, JSON.stringify(spec)], run)
  return { ...image, bytes: Buffer.from(base64, 'base64') }
}

/** The sizes of a logo, as WebP. */
export interface LogoSizes {
  small: Buffer
  large: Buffer
}

/** Makes the sizes of a logo in the same way. */
export const runLogo = async (run: PictureRun): Promise<LogoSizes> => {
  const { small, large } = await read<LogoResult>(['logo'], run)
  return { small: Buffer.from(small, 'base64'), large: Buffer.from(large, 'base64') }
}
