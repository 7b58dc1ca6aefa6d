import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { StoreDeps } from '../deps.ts'
import type { FileRow } from '../queries.ts'
import { readForm } from './multipart.ts'
import type { FilePart, UploadForm } from './multipart.ts'
import { maxFileBytes } from './limits.ts'
import { createUploadedFile, discard, measure, receive, tooLarge } from './uploads.ts'
import type { Measured, Received } from './uploads.ts'

// The maximum file size plus boundaries, part headers and two ids.
const formOverheadBytes = 65_536

export const lengthOf = (request: FastifyRequest): number | undefined => {
  const header = request.headers['content-length']
  return header === undefined ? undefined : Number(header)
}

/** Throws BAD_REQUEST for a form whose declared length is too large for any file. */
export const checkFormLength = (request: FastifyRequest): void => {
  if ((lengthOf(request) ?? 0) > maxFileBytes + formOverheadBytes) throw tooLarge()
}

/** A digest of the form's content, stored with its Idempotency-Key to recognise a repeated request. */
const digestOf = ({ file, parentId, projectId }: UploadForm<FilePart & Measured>): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([file.name, file.mimeType, parentId ?? null, projectId ?? null]))
    .update(file.sha256)
    .digest()

export interface FormOptions {
  /** A file of undeclared type gets the type of its extension. */
  guessesType?: boolean
}

/** Reads a repeated request to its end, to compare it with the first one, without storing anything. */
export const repeatForm = async (request: FastifyRequest, options: FormOptions = {}): Promise<void> => {
  const form = await readForm(request, async (part) => ({ ...part, ...(await measure(part.bytes, part)) }), options)
  await request.settleFingerprint(digestOf(form))
}

/** Stores the file of a form. `check` is called with the form's other text parts before the file is created. */
export const uploadForm = async (
  deps: StoreDeps,
  request: FastifyRequest,
  { check, ...options }: FormOptions & { check?: (others: ReadonlyMap<string, string>) => void } = {},
): Promise<FileRow> => {
  const { actor } = request
  // Rejects an upload that certainly exceeds the quota before reading it. The exact size is known after the upload.
  const leastBytes = Math.max(0, (lengthOf(request) ?? 0) - formOverheadBytes)
  await deps.quotas.check(actor.orgId, { files: 1, storedBytes: leastBytes })
  let received: Received | undefined
  try {
    const { others, file, ...place } = await readForm(
      request,
      async (part) => {
        received = await receive(deps, actor.orgId, part.bytes, part)
        return { ...part, ...received }
      },
      options,
    )
    check?.(others)
    await request.settleFingerprint(digestOf({ others, file, ...place }))
    return await createUploadedFile(deps, actor, file, { ...file, ...place, transactions: request.db })
  } catch (error) {
    if (received) await discard(deps, actor.orgId, received.blobId)
    throw error
  }
}
