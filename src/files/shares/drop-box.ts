import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../identity/actor.ts'
import { systemActor } from '../../identity/actor.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { badRequest, tooManyRequests } from '../../platform/http/errors.ts'
import { deceptive } from '../tree/names.ts'
import { readForm } from '../uploads/multipart.ts'
import type { FilePart } from '../uploads/multipart.ts'
import { maxFileBytes } from '../uploads/limits.ts'
import { createUploadedFile, discard, receive } from '../uploads/uploads.ts'
import type { Received } from '../uploads/uploads.ts'
import * as queries from './queries.ts'
import type { OpenShare } from './queries.ts'
import { Rejection, texts } from './texts.ts'
import { lockVisit, rejected } from './visits.ts'
import type { Visit, VisitDeps } from './visits.ts'

/** Boundaries, headers and fields of a form besides its file. */
const formOverheadBytes = 65_536

/** The person who created the share, as the creator of what its visitors upload. */
const uploaderOf = ({ creator, permissions }: Visit, { ip, id: requestId }: FastifyRequest): Actor => ({
  ...creator,
  orgName: '',
  timeZone: null,
  userName: 'Share link',
  email: '',
  permissions,
  workspaceId: null,
  apiKey: null,
  origin: { ip, requestId },
})

const maxBytesOf = (share: OpenShare): number => share.maxFileBytes ?? maxFileBytes

const checkType = ({ allowedTypes }: OpenShare, mimeType: string): void => {
  const isAllowed = (type: string): boolean =>
    type === mimeType || (type.endsWith('/*') && mimeType.startsWith(type.slice(0, -1)))
  if (allowedTypes === null || allowedTypes.some(isAllowed)) return
  throw badRequest(`Files of the type ${mimeType} cannot be uploaded here.`, { cause: new Rejection('type') })
}

const tooLong = (share: OpenShare): Error =>
  badRequest(`A file must have at most ${maxBytesOf(share)} bytes.`, { cause: new Rejection('size') })

/** Throws FORBIDDEN when the share allows no uploads, or no more. */
const checkUploads = ({ permission, maxUploads, uploads }: OpenShare): void => {
  if (permission !== 'upload') throw rejected('uploads')
  if (maxUploads !== null && uploads >= maxUploads) throw rejected('uploadLimit')
}

const atMost = async function* (bytes: AsyncIterable<Buffer>, share: OpenShare): AsyncGenerator<Buffer> {
  let seen = 0
  for await (const chunk of bytes) {
    seen += chunk.length
    if (seen > maxBytesOf(share)) throw tooLong(share)
    yield chunk
  }
}

/** A name that a stranger gave, without invisible characters that make it look like another name. */
export const visitorsName = (name: string): string => name.replaceAll(deceptive, '').trim() || 'file'

/**
 * Puts the received file of a visitor into the folder of the share. Its bytes and its name are untrusted. What the share
 * allows is checked again in the transaction that counts and stores the file, so that no more files are stored than it
 * allows, none after its end, and a slow upload keeps no place from others.
 */
const finishUpload = (
  deps: VisitDeps,
  request: FastifyRequest,
  visit: Visit,
  { name, mimeType, received }: FilePart & { received: Received },
): Promise<unknown> => {
  const { share } = visit
  const prepare = async (db: Transaction): Promise<void> => {
    const { share: now } = await lockVisit(db, share)
    checkUploads(now)
    checkType(now, mimeType)
    if (received.sizeBytes > maxBytesOf(now)) throw tooLong(now)
    if ((await queries.countUpload(db, now)) === 0) throw rejected('uploadLimit')
  }
  return createUploadedFile(deps, uploaderOf(visit, request), received, {
    name: visitorsName(name),
    mimeType,
    parentId: share.fileId,
    isUntrusted: true,
    namedBy: share.id,
    author: systemActor(share.orgId, 'Share link'),
    prepare,
  })
}

/** Stores the file of a form of a visitor. Throws FORBIDDEN, BAD_REQUEST for a type or size that is not allowed. */
export const storeUpload = async (deps: VisitDeps, request: FastifyRequest, visit: Visit): Promise<void> => {
  const { share } = visit
  checkUploads(share)
  await deps.quotas.check(share.orgId, { files: 1 })
  let received: Received | undefined
  try {
    const receivePart = async (part: FilePart): Promise<FilePart & { received: Received }> => {
      checkType(share, part.mimeType)
      received = await receive(deps, share.orgId, atMost(part.bytes, share), part)
      return { ...part, received }
    }
    const maxBytes = maxBytesOf(share) + formOverheadBytes
    const { file } = await readForm(request, receivePart, { guessesType: true, maxBytes })
    await finishUpload(deps, request, visit, file)
  } catch (error) {
    if (received) await discard(deps, share.orgId, received.blobId)
    throw error
  }
}

/** Uploads at the same time, in one process. */
const maxOfShare = 50
const maxOfAddress = 5

/** Limits the uploads that run at the same time, for each address and for each share. */
export interface UploadPlaces {
  /** Throws TOO_MANY_REQUESTS when all places are taken. */
  run<T>(share: OpenShare, ip: string, work: () => Promise<T>): Promise<T>
}

export const createUploadPlaces = (): UploadPlaces => {
  const taken = new Map<string, number>()
  const change = (key: string, by: 1 | -1): void => {
    const count = (taken.get(key) ?? 0) + by
    if (count === 0) taken.delete(key)
    else taken.set(key, count)
  }
  return {
    run: async (share, ip, work) => {
      const places: [key: string, most: number][] = [
        [`address ${addressGroup(ip)}`, maxOfAddress],
        [`share ${share.id}`, maxOfShare],
      ]
      if (places.some(([key, most]) => (taken.get(key) ?? 0) >= most)) {
        throw tooManyRequests(texts.en.rejections.runningUploads, {
          cause: new Rejection('runningUploads'),
          headers: { 'retry-after': '10' },
        })
      }
      for (const [key] of places) change(key, 1)
      try {
        return await work()
      } finally {
        for (const [key] of places) change(key, -1)
      }
    },
  }
}
