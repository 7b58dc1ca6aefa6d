import { filesInside } from '../../../files/files.ts'
import type { Actor } from '../../../identity/actor.ts'
import { isAdministrator } from '../../../identity/permissions.ts'
import type { Database, Transaction } from '../../../platform/database/database.ts'
import { conflict, forbidden } from '../../../platform/http/errors.ts'
import { newId } from '../../../platform/ids.ts'
import { DavError, failedPrecondition, insufficientStorage, locked } from '../errors.ts'
import { davElement, escapeXml } from '../xml/write.ts'
import * as queries from './queries.ts'
import type { LockRow } from './queries.ts'

/** Locks of one org at the same time. A program holds one for each open file. */
export const maxLocks = 1_000
/** Locks of one person, so that nobody uses up those of the org. */
const maxLocksOfPerson = 500
/** Shared locks that apply to one file. PROPFIND repeats them for each file of a folder. */
export const maxLocksOfFile = 10
export const maxOwnerCharacters = 2_048
const defaultSeconds = 3_600
const maxSeconds = 86_400

export const tokenOf = ({ id }: Pick<LockRow, 'id'>): string => `urn:uuid:${id}`

/** The seconds of the header `Timeout`: the first number that it has, at most a day. */
export const secondsOf = (header: string | string[] | undefined): number => {
  const text = String(header ?? '')
  if (/^\s*infinite/i.test(text)) return maxSeconds
  const seconds = Number(/second-(\d{1,10})/i.exec(text)?.[1] ?? defaultSeconds)
  return Math.max(1, Math.min(seconds, maxSeconds))
}

/** The locks of a file, given with the folders above it: its own, and those of the folders that lock their contents. */
export const locksOn = (locks: readonly LockRow[], chain: readonly string[]): LockRow[] => {
  const own = chain.at(-1)
  return locks.filter(({ fileId, isDeep }) => fileId === own || (isDeep && chain.includes(fileId)))
}

/** A file or folder that a request changes. */
export interface Change {
  /** The ids of the folders from the root, and its own. */
  chain: readonly string[]
  /** Everything in it changes as well. */
  isDeep?: boolean
  href: string
}

const isAllowed = (actor: Actor, locks: readonly LockRow[], tokens: ReadonlySet<string>): boolean =>
  locks.length === 0 || locks.some((lock) => lock.createdBy === actor.userId && tokens.has(tokenOf(lock)))

const missingToken = (href: string) =>
  locked(
    'The file or folder is locked. Send the token of the lock in the If header.',
    davElement('lock-token-submitted', davElement('href', escapeXml(href))),
  )

/** The locks of files in a folder, by file. */
const locksInside = async (
  db: Transaction,
  actor: Actor,
  folderId: string,
  locks: readonly LockRow[],
): Promise<LockRow[][]> => {
  const others = locks.filter(({ fileId }) => fileId !== folderId && fileId !== actor.orgId)
  const inside = new Set(
    folderId === actor.orgId
      ? others.map(({ fileId }) => fileId)
      : await filesInside(db, actor, folderId, [...new Set(others.map(({ fileId }) => fileId))]),
  )
  return [...Map.groupBy(others, ({ fileId }) => fileId)].flatMap(([fileId, of]) => (inside.has(fileId) ? [of] : []))
}

/**
 * Throws 423 when a file is locked and the request has not submitted the token of a lock of this person. Returns the locks
 * of what is deleted or moved with `isDeep`. No lock can be created before the transaction ends.
 */
export const requireUnlocked = async (
  db: Transaction,
  actor: Actor,
  tokens: ReadonlySet<string>,
  changes: readonly Change[],
): Promise<LockRow[]> => {
  await queries.shareLocks(db, actor)
  const locks = await queries.listLocks(db, actor)
  const found: LockRow[] = []
  if (locks.length === 0) return found
  for (const { chain, isDeep = false, href } of changes) {
    if (!isAllowed(actor, locksOn(locks, chain), tokens)) throw missingToken(href)
    const id = chain.at(-1)
    if (!isDeep || id === undefined) continue
    const inside = await locksInside(db, actor, id, locks)
    if (!inside.every((of) => isAllowed(actor, of, tokens))) throw missingToken(href)
    found.push(...locks.filter(({ fileId }) => fileId === id), ...inside.flat())
  }
  return found
}

export interface WantedLock {
  chain: readonly string[]
  isShared: boolean
  isDeep: boolean
  owner: string
  seconds: number
  href: string
}

/** Creates a lock. Throws 423 when another lock conflicts, 507 when the org has too many. */
export const createLock = (db: Database, actor: Actor, wanted: WantedLock): Promise<LockRow> =>
  db.transaction(actor, async (db) => {
    const { chain, isShared, isDeep, owner, seconds, href } = wanted
    const fileId = chain.at(-1)
    if (fileId === undefined) throw conflict('The file does not exist.')
    await queries.claimLocks(db, actor)
    await queries.deleteExpiredOfOrg(db, actor.orgId)
    const locks = await queries.listLocks(db, actor)
    const inside = isDeep ? (await locksInside(db, actor, fileId, locks)).flat() : []
    if ([...locksOn(locks, chain), ...inside].some((lock) => !isShared || !lock.isShared)) {
      const condition = davElement('no-conflicting-lock', davElement('href', escapeXml(href)))
      throw locked('Somebody else has locked this file or folder, or something in it.', condition)
    }
    if (locksOn(locks, chain).length >= maxLocksOfFile) {
      throw insufficientStorage(`At most ${maxLocksOfFile} locks can apply to a file or folder.`)
    }
    if (locks.length >= maxLocks) throw insufficientStorage(`An organisation can have at most ${maxLocks} locks.`)
    if (locks.filter(({ createdBy }) => createdBy === actor.userId).length >= maxLocksOfPerson) {
      throw insufficientStorage(`A person can have at most ${maxLocksOfPerson} locks.`)
    }
    const id = newId()
    await queries.insertLock(db, actor, { id, fileId, isShared, isDeep, owner, seconds })
    return { id, fileId, isShared, isDeep, owner, createdBy: actor.userId, secondsLeft: seconds }
  })

/** Restarts the timeout of the submitted locks of a file. Throws 412 when there is none. */
export const refreshLocks = (
  db: Database,
  actor: Actor,
  { chain, tokens, seconds }: { chain: readonly string[]; tokens: ReadonlySet<string>; seconds: number },
): Promise<LockRow[]> =>
  db.transaction(actor, async (db) => {
    const locks = await queries.listLocks(db, actor)
    const own = locksOn(locks, chain).filter((lock) => lock.createdBy === actor.userId && tokens.has(tokenOf(lock)))
    const ids = own.map(({ id }) => id)
    if (ids.length === 0 || (await queries.refreshLocks(db, actor.orgId, ids, seconds)) === 0) {
      throw failedPrecondition('The If header has no token of a lock of this file or folder.')
    }
    return own.map((lock) => ({ ...lock, secondsLeft: seconds }))
  })

/**
 * Ends a lock. Throws 409 when it does not lock the file, FORBIDDEN when another person created it and the caller is
 * neither an owner nor an admin: somebody must be able to end a lock that its creator keeps refreshing.
 */
export const unlock = (
  db: Database,
  actor: Actor,
  { chain, token }: { chain: readonly string[]; token: string },
): Promise<void> =>
  db.transaction(actor, async (db) => {
    const lock = locksOn(await queries.listLocks(db, actor), chain).find((one) => tokenOf(one) === token)
    if (!lock) {
      throw new DavError('CONFLICT', 'Lock-Token is not the token of a lock of this file or folder.', {
        status: 409,
        condition: davElement('lock-token-matches-request-uri'),
      })
    }
    if (lock.createdBy !== actor.userId && !isAdministrator(actor.role))
      throw forbidden('Another person created this lock.')
    await queries.deleteLocks(db, actor.orgId, [lock.id])
  })

/**
 * The property `DAV:lockdiscovery`, with the first locks only when folders inside of each other have more.
 * `hrefOf` gives the address of the locked file or folder.
 */
export const lockDiscovery = (locks: readonly LockRow[], hrefOf: (lock: LockRow) => string): string =>
  locks
    .slice(0, maxLocksOfFile)
    .map((lock) =>
      davElement(
        'activelock',
        [
          davElement('locktype', davElement('write')),
          davElement('lockscope', davElement(lock.isShared ? 'shared' : 'exclusive')),
          davElement('depth', lock.isDeep ? 'infinity' : '0'),
          lock.owner,
          davElement('timeout', `Second-${lock.secondsLeft}`),
          davElement('locktoken', davElement('href', tokenOf(lock))),
          davElement('lockroot', davElement('href', escapeXml(hrefOf(lock)))),
        ].join(''),
      ),
    )
    .join('')

export const supportedLock = ['exclusive', 'shared']
  .map((scope) =>
    davElement('lockentry', davElement('lockscope', davElement(scope)) + davElement('locktype', davElement('write'))),
  )
  .join('')
