import { isPassword } from '../../identity/sign-in/passwords.ts'
import { standingsOf } from '../../identity/sign-in/user-authority.ts'
import type { Actor, Origin } from '../../identity/actor.ts'
import { systemActor } from '../../identity/actor.ts'
import type { Permission, Role } from '../../identity/permissions.ts'
import type { Db } from '../../platform/database/database.ts'
import { badRequest, forbidden, notFound, tooManyRequests } from '../../platform/http/errors.ts'
import type { FilesDeps } from '../deps.ts'
import type { FilePart } from '../uploads/multipart.ts'
import { createUploadedFile, maxFileBytes, receive } from '../uploads/uploads.ts'
import type { Received } from '../uploads/uploads.ts'
import * as queries from './queries.ts'
import type { OpenShare, SharedItem } from './queries.ts'
import { Rejection, texts } from './texts.ts'
import { isAccess, readToken, signAccess } from './token.ts'

/** A share with the person who created it, whose rights its visitors use. */
export interface Visit {
  share: OpenShare
  role: Role
  permissions: ReadonlySet<Permission>
}

/**
 * The share of a token. Throws NOT_FOUND for one that does not exist, is revoked or expired, or whose file is deleted, and
 * when the person who created it may no longer use files.
 */
export const openVisit = async (db: Db, token: string): Promise<Visit> => {
  const read = readToken(token)
  const share = read && (await queries.findOpenShare(db, read.orgId, read.hash))
  if (!share) throw notFound('Share')
  const [standing] = await standingsOf(db, share.orgId, [{ userId: share.createdBy, apiKeyId: null, scopes: [] }])
  const needed = share.permission === 'upload' ? 'files:write' : 'files:read'
  if (!standing?.permissions.has(needed)) throw notFound('Share')
  return { share, role: standing.role, permissions: standing.permissions }
}

const protectedBy = ({ id, passwordHash }: OpenShare) => (passwordHash === null ? undefined : { id, passwordHash })

/** Whether a visitor may use the share: it has no password, or `access` proves that they have entered it. */
export const isAdmitted = ({ signingKeys }: FilesDeps, share: OpenShare, access: string | undefined): boolean => {
  const by = protectedBy(share)
  return by === undefined || isAccess(signingKeys, by, access)
}

/** Attempts to enter a password, per share and hour. The rate limit of an address is lower. */
const maxAttempts = 100

/** The proof of a right password; undefined for a wrong one. Throws TOO_MANY_REQUESTS after too many attempts. */
export const enterPassword = async (
  { db, signingKeys }: FilesDeps,
  share: OpenShare,
  password: string,
): Promise<string | undefined> => {
  const by = protectedBy(share)
  if (by === undefined) return undefined
  await queries.forgetAttempts(db, share)
  if ((await queries.takeAttempt(db, share, maxAttempts)) === 0) {
    throw tooManyRequests('Too many wrong passwords. Try again in an hour.', { cause: new Rejection('attempts') })
  }
  if (password.length > 128 || !(await isPassword(password, by.passwordHash))) return undefined
  await queries.returnAttempt(db, share)
  return signAccess(signingKeys, by)
}

/** A shared file or folder. Throws NOT_FOUND for one that is not in the share, and for every one of a drop box. */
export const getSharedItem = async (db: Db, share: OpenShare, id: string): Promise<SharedItem> => {
  const item = share.permission === 'upload' ? undefined : await queries.findSharedItem(db, share, id)
  if (!item) throw notFound('File')
  return item
}

/** Whether visitors see the content of files on the page. With a limit, every byte counts as a download. */
export const showsContent = ({ permission, maxDownloads }: OpenShare): boolean =>
  permission !== 'upload' && maxDownloads === null

const rejected = (reason: Rejection['reason']): Error =>
  forbidden(texts.en.rejections[reason], { cause: new Rejection(reason) })

/** Counts a download. Throws FORBIDDEN when the share allows none, or no more. */
export const takeDownload = async (db: Db, share: OpenShare): Promise<void> => {
  if (share.permission !== 'download') throw rejected('downloads')
  if ((await queries.takeDownload(db, share)) === 0) throw rejected('downloadLimit')
}

/** The person who created the share, as the creator of what its visitors upload. */
const uploaderOf = ({ share, role, permissions }: Visit, origin: Origin): Actor => ({
  orgId: share.orgId,
  orgName: '',
  timeZone: null,
  userId: share.createdBy,
  userName: 'Share link',
  email: '',
  role,
  permissions,
  workspaceId: null,
  apiKey: null,
  origin,
})

const isAllowed = ({ allowedTypes }: OpenShare, mimeType: string): boolean =>
  allowedTypes === null ||
  allowedTypes.some((type) => type === mimeType || (type.endsWith('/*') && mimeType.startsWith(type.slice(0, -1))))

const atMost = async function* (bytes: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let seen = 0
  for await (const chunk of bytes) {
    seen += chunk.length
    if (seen > most) throw badRequest(`A file must have at most ${most} bytes.`, { cause: new Rejection('size') })
    yield chunk
  }
}

/** Stores an uploaded file of a visitor while it arrives. Throws BAD_REQUEST for a type or size that is not allowed. */
export const receiveUpload = (deps: FilesDeps, { share }: Visit, part: FilePart): Promise<Received> => {
  if (!isAllowed(share, part.mimeType)) {
    throw badRequest(`Files of the type ${part.mimeType} cannot be uploaded here.`, { cause: new Rejection('type') })
  }
  return receive(deps, share.orgId, atMost(part.bytes, share.maxFileBytes ?? maxFileBytes), part)
}

/** Runs the upload of one file. Throws FORBIDDEN when the share allows none, or no more. A failed one does not count. */
export const countUpload = async <T>(db: Db, { share }: Visit, work: () => Promise<T>): Promise<T> => {
  if (share.permission !== 'upload') throw rejected('uploads')
  if ((await queries.takeUpload(db, share)) === 0) throw rejected('uploadLimit')
  try {
    return await work()
  } catch (error) {
    await queries.returnUpload(db, share)
    throw error
  }
}

/** Puts the received file of a visitor into the folder of the share. Its bytes and its name are untrusted. */
export const finishUpload = async (
  deps: FilesDeps,
  visit: Visit,
  { name, mimeType, received, origin }: { name: string; mimeType: string; received: Received; origin: Origin },
): Promise<void> => {
  const { share } = visit
  await createUploadedFile(deps, uploaderOf(visit, origin), received, {
    name,
    mimeType,
    parentId: share.fileId,
    isUntrusted: true,
    namedBy: share.id,
    author: systemActor(share.orgId, 'Share link'),
  })
}
