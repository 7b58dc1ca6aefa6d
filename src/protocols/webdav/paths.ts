import type { FastifyRequest } from 'fastify'
import { findPath, isPathName } from '../../files/files.ts'
import type { EntryRow } from '../../files/files.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { badRequest, forbidden, notFound } from '../../platform/http/errors.ts'
import { DavError, davPrefix } from './errors.ts'

/** Longer paths than the files can have. */
const maxSegments = 128

/** A path below `/dav` as names. Throws BAD_REQUEST for what is no path of names, such as `..` and encoded slashes. */
export const namesOf = (path: string): string[] => {
  if (!/^\/dav(?:\/|$)/.test(path)) throw badRequest(`The path must begin with ${davPrefix}/.`)
  const names = path
    .slice(davPrefix.length)
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => {
      let name: string | undefined
      try {
        name = decodeURIComponent(segment)
      } catch {
        // Reported below.
      }
      if (name === undefined || !isPathName(name)) throw badRequest('A segment of the path cannot be a name.')
      return name
    })
  if (names.length > maxSegments) throw notFound('File')
  return names
}

export const hrefOf = (names: readonly string[], isFolder: boolean): string => {
  const path = [davPrefix, ...names.map((name) => encodeURIComponent(name))].join('/')
  return isFolder ? `${path}/` : path
}

/** What a path names. */
export interface Target {
  names: string[]
  /** The root folder, or an existing file, folder or link. */
  exists: boolean
  isFolder: boolean
  /** Undefined for the root folder, and for what does not exist. */
  entry: EntryRow | undefined
  /** The ids of the folders from the root, whose id is that of the org, and the id of the file itself when it exists. */
  chain: string[]
  /** The folder that has or would have it; undefined when that does not exist, and for the root. */
  parent: { parentId: string | null; chain: string[] } | undefined
}

/** Finds what a path names. */
export const findTarget = async (db: Db, actor: Actor, names: string[]): Promise<Target> => {
  const entries = await findPath(db, actor, names)
  const chain = [actor.orgId, ...entries.map(({ id }) => id)]
  const exists = entries.length === names.length
  const entry = exists ? entries.at(-1) : undefined
  const above = entries.slice(0, names.length - 1)
  const hasParent = names.length > 0 && above.length === names.length - 1
  const folder = above.at(-1)
  const isInFolder = hasParent && (folder === undefined || folder.source === 'folder')
  return {
    names,
    exists,
    isFolder: exists && (entry === undefined || entry.source === 'folder'),
    entry,
    chain,
    parent: isInFolder ? { parentId: folder?.id ?? null, chain: chain.slice(0, names.length) } : undefined,
  }
}

export const hrefOfTarget = ({ names, isFolder }: Target): string => hrefOf(names, isFolder)

const pathOf = (url: string): string => {
  const path = url.split('?', 1)[0] ?? ''
  if (url.includes('#')) throw badRequest('The URL of a request has no fragment.')
  return path
}

/** What the URL of the request names. */
export const targetOf = (db: Db, request: FastifyRequest): Promise<Target> =>
  findTarget(db, request.actor, namesOf(pathOf(request.originalUrl)))

/** The names in the URL or path of a header. Throws 502 for the URL of another server, to which nothing is ever sent. */
export const namesOfReference = (reference: string, request: FastifyRequest, baseUrl: string | undefined): string[] => {
  const [, scheme, host, path] = /^(?:(https?):\/\/([^/?#]*))?(\/[^?#]*)$/i.exec(reference.trim()) ?? []
  if (path === undefined) throw badRequest('Destination and If must have URLs or paths of this server.')
  if (scheme !== undefined && host !== undefined) {
    const hostOf = (text: string): string => (URL.canParse(text) ? new URL(text).host : '')
    const own = [hostOf(`${scheme}://${request.host}`), baseUrl === undefined ? '' : hostOf(baseUrl)]
    const wanted = hostOf(`${scheme}://${host}`)
    if (wanted === '' || !own.includes(wanted))
      throw new DavError('BAD_REQUEST', 'The destination is on another server.', { status: 502 })
  }
  return namesOf(path)
}

/** Throws NOT_FOUND when the path names nothing. */
export const requireExisting = (target: Target): Target => {
  if (!target.exists) throw notFound('File')
  return target
}

/** The folder for something new. Throws 409 when it does not exist, as RFC 4918 asks for. */
/** Throws FORBIDDEN for a file or folder that the caller may only read. */
export const requireChangeable = (target: Target): Target => {
  if (target.entry?.isWritable === false) throw forbidden('You may read this, but not change it.')
  return target
}

export const requireParent = ({ parent }: Target): NonNullable<Target['parent']> => {
  if (!parent) throw new DavError('CONFLICT', 'The folder of this path does not exist.', { status: 409 })
  return parent
}
