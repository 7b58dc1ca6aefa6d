import type { FastifyReply, FastifyRequest } from 'fastify'
import { claimName, putFile } from '../../../files/files.ts'
import { badRequest } from '../../../platform/http/errors.ts'
import { checkConditions, depthOf } from '../conditions.ts'
import type { DavDeps } from '../deps.ts'
import { insufficientStorage } from '../errors.ts'
import { placeOf } from '../files.ts'
import {
  findTarget,
  hrefOf,
  hrefOfTarget,
  requireChangeable,
  requireExisting,
  requireParent,
  targetOf,
} from '../paths.ts'
import type { Target } from '../paths.ts'
import { davChild, elementsOf, readXml, writeElement } from '../xml/read.ts'
import { davDocument, davElement, davNamespace, xmlType } from '../xml/write.ts'
import {
  createLock,
  lockDiscovery,
  maxOwnerCharacters,
  refreshLocks,
  requireUnlocked,
  secondsOf,
  tokenOf,
  unlock,
} from './locks.ts'
import type { LockRow } from './queries.ts'

/** What the body of a LOCK asks for. Throws BAD_REQUEST. */
const readLockInfo = (body: Buffer): { isShared: boolean; owner: string } => {
  const root = readXml(body)
  const scope = davChild(root, 'lockscope')
  const type = davChild(root, 'locktype')
  if (root.namespace !== davNamespace || root.name !== 'lockinfo' || !scope || !type || !davChild(type, 'write')) {
    throw badRequest('The body must be the element DAV:lockinfo with a scope and the type write.')
  }
  const [named] = elementsOf(scope)
  if (named?.namespace !== davNamespace || !['exclusive', 'shared'].includes(named.name)) {
    throw badRequest('DAV:lockscope must be DAV:exclusive or DAV:shared.')
  }
  const owner = davChild(root, 'owner')
  const written = owner ? writeElement(owner, maxOwnerCharacters) : ''
  if (written === undefined) throw insufficientStorage(`DAV:owner must have at most ${maxOwnerCharacters} characters.`)
  return { isShared: named.name === 'shared', owner: written }
}

const sendLocks = (reply: FastifyReply, target: Target, locks: readonly LockRow[], status: number) => {
  const rootOf = ({ fileId }: LockRow): string => {
    const level = target.chain.indexOf(fileId)
    return level === target.names.length ? hrefOfTarget(target) : hrefOf(target.names.slice(0, level), true)
  }
  const body = davDocument('prop', davElement('lockdiscovery', lockDiscovery(locks, rootOf)))
  return reply.code(status).type(xmlType).send(body)
}

const empty = async function* (): AsyncGenerator<Buffer> {
  // No bytes.
}

/** Creates the empty file that a lock of a free name makes (RFC 4918, section 7.3). */
const createEmpty = async (
  deps: DavDeps,
  request: FastifyRequest,
  target: Target,
  tokens: ReadonlySet<string>,
): Promise<Target> => {
  const { actor } = request
  const parent = requireParent(target)
  const place = placeOf(target)
  await putFile(deps, actor, {
    ...place,
    replaced: undefined,
    declaredType: undefined,
    sizeBytes: 0,
    body: empty(),
    transactions: deps.db.guarded(async (db) => {
      await requireUnlocked(db, actor, tokens, [{ chain: parent.chain, href: hrefOfTarget(target) }])
      await claimName(db, actor, place, undefined)
    }),
  })
  return findTarget(deps.db, actor, target.names)
}

/** Locks a file or folder, or refreshes the locks whose tokens the request submits. */
export const lock = async (deps: DavDeps, request: FastifyRequest, reply: FastifyReply) => {
  const { db, config } = deps
  const { actor, headers } = request
  const body = request.body as Buffer | undefined
  const found = await targetOf(db, request)
  const tokens = await checkConditions({ db, baseUrl: config.baseUrl }, request, found)
  const seconds = secondsOf(headers['timeout'])
  if (body === undefined || body.length === 0) {
    const { chain } = requireExisting(found)
    return sendLocks(reply, found, await refreshLocks(db, actor, { chain, tokens, seconds }), 200)
  }
  const isDeep = depthOf(request, ['0', 'infinity']) === 'infinity'
  const info = readLockInfo(body)
  const target = found.exists ? requireChangeable(found) : await createEmpty(deps, request, found, tokens)
  const wanted = { ...info, isDeep, seconds, chain: target.chain, href: hrefOfTarget(target) }
  const created = await createLock(db, actor, wanted)
  reply.header('lock-token', `<${tokenOf(created)}>`)
  return sendLocks(reply, target, [created], found.exists ? 200 : 201)
}

/** Ends the lock of the token in `Lock-Token`. */
export const removeLock = async ({ db }: DavDeps, request: FastifyRequest, reply: FastifyReply) => {
  const token = /^\s*<([^<>\s]+)>\s*$/.exec(String(request.headers['lock-token'] ?? ''))?.[1]
  if (token === undefined) throw badRequest('Lock-Token must be the token of a lock in angle brackets.')
  const { chain } = requireExisting(await targetOf(db, request))
  await unlock(db, request.actor, { chain, token })
  return reply.code(204).send()
}
