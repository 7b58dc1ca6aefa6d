import { standingsOf } from '../../identity/sign-in/user-authority.ts'
import type { Permission } from '../../identity/permissions.ts'
import type { Db, Transaction } from '../../platform/database/database.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { forbidden, notFound } from '../../platform/http/errors.ts'
import { isOpenTo } from '../access/access.ts'
import type { Reader } from '../access/condition-queries.ts'
import type { FilesDeps } from '../deps.ts'
import { limits } from '../preview/pictures/limits.ts'
import { isDisplayed } from './page.ts'
import type { ShareHashes } from './passwords.ts'
import { isOfEarlierMember } from './ends.ts'
import * as queries from './queries.ts'
import type { OpenShare, SharedItem } from './queries.ts'
import { Rejection, texts } from './texts.ts'
import { isAccess, readToken, signAccess } from './token.ts'

/** What the routes of visitors need. */
export interface VisitDeps extends FilesDeps {
  hashes: ShareHashes
}

/** A share with the person who created it, whose rights its visitors use. */
export interface Visit {
  share: OpenShare
  creator: Reader
  permissions: ReadonlySet<Permission>
}

const withCreator = async (db: Db, share: OpenShare | undefined): Promise<Visit> => {
  if (!share) throw notFound('Share')
  const { orgId, createdBy: userId, apiKeyId, keyScopes: scopes } = share
  const [standing] = await standingsOf(db, orgId, [{ userId, apiKeyId, scopes }])
  const needed = share.permission === 'upload' ? 'files:write' : 'files:read'
  if (!standing?.permissions.has(needed)) throw notFound('Share')
  if (isOfEarlierMember(share, standing)) throw notFound('Share')
  const { role, workspaceIds, permissions } = standing
  const creator = { orgId, userId, role, workspaceIds }
  const access = share.permission === 'upload' ? 'write' : 'read'
  if (!(await isOpenTo(db, creator, [share.fileGuards], access))) throw notFound('Share')
  return { share, creator, permissions }
}

/**
 * The share of a token. Throws NOT_FOUND for one that does not exist, is revoked or expired, or whose file is deleted, and
 * when the person who created it, or their API key, may no longer use files, has left the org since, or has no access to
 * this one any more.
 */
export const openVisit = async (db: Db, token: string): Promise<Visit> => {
  const read = readToken(token)
  return withCreator(db, read && (await queries.findOpenShare(db, read.orgId, read.hash)))
}

/** The share of a visit that began before, locked. Throws like openVisit, and NOT_FOUND when it has another password. */
export const lockVisit = async (db: Transaction, before: OpenShare): Promise<Visit> => {
  const visit = await withCreator(db, await queries.lockOpenShare(db, before))
  if (!hasSamePassword(before, visit.share)) throw notFound('Share')
  return visit
}

/** Whether a visitor who was admitted before still is. The hour of their proof does not end what is running. */
export const hasSamePassword = (before: OpenShare, { passwordHash }: OpenShare): boolean =>
  passwordHash === null || passwordHash === before.passwordHash

const protectedBy = ({ id, passwordHash }: OpenShare) => (passwordHash === null ? undefined : { id, passwordHash })

/** Whether a visitor may use the share: it has no password, or `access` proves that they have entered it. */
export const isAdmitted = ({ signingKeys }: FilesDeps, share: OpenShare, access: string | undefined): boolean => {
  const by = protectedBy(share)
  return by === undefined || isAccess(signingKeys, by, access)
}

/** The proof of a right password; undefined for a wrong one. Throws like `isRight` of the hashes. */
export const enterPassword = async (
  { db, hashes, signingKeys }: VisitDeps,
  share: OpenShare,
  given: { password: string; ip: string },
): Promise<string | undefined> => {
  const by = protectedBy(share)
  if (by === undefined || !(await hashes.isRight(db, { ...share, ...by }, given))) return undefined
  return signAccess(signingKeys, by)
}

/** A shared file or folder. Throws NOT_FOUND for one that is not in the share, and for every one of a drop box. */
export const getSharedItem = async (db: Db, visit: Visit, id: string): Promise<SharedItem> => {
  const item = visit.share.permission === 'upload' ? undefined : await queries.findSharedItem(db, visit, id)
  if (!item) throw notFound('File')
  return item
}

/** Whether visitors see the content of files on the page. With a limit, every byte counts as a download. */
export const showsContent = ({ permission, maxDownloads }: OpenShare): boolean =>
  permission !== 'upload' && maxDownloads === null

/** Whether the page displays the bytes of the file: without being downloaded, they are sent for nothing else. */
export const displaysBytes = (share: OpenShare, { mimeType }: Pick<SharedItem, 'mimeType'>): boolean =>
  showsContent(share) && isDisplayed(mimeType ?? '')

/** Whether the page displays an image that the server makes of the file, because few browsers read its type. */
export const displaysImage = (share: OpenShare, { mimeType, size }: Pick<SharedItem, 'mimeType' | 'size'>): boolean =>
  showsContent(share) && (mimeType === 'image/heic' || mimeType === 'image/heif') && size <= limits.sourceBytes

/** FORBIDDEN for what a share does not allow. */
export const rejected = (reason: Rejection['reason']): ApiError =>
  forbidden(texts.en.rejections[reason], { cause: new Rejection(reason) })

/** Throws FORBIDDEN when the share allows no downloads, or no more. */
export const checkDownload = ({ permission, maxDownloads, downloads }: OpenShare): void => {
  if (permission !== 'download') throw rejected('downloads')
  if (maxDownloads !== null && downloads >= maxDownloads) throw rejected('downloadLimit')
}

/** Counts a download. Throws like checkDownload. */
export const takeDownload = async (db: Db, share: OpenShare): Promise<void> => {
  checkDownload(share)
  if ((await queries.takeDownload(db, share)) === 0) throw rejected('downloadLimit')
}
