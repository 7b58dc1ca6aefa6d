import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  claimName,
  createFile,
  declaredLength,
  deleteFile,
  dispositionOf,
  downloadHeaders,
  getContent,
  putFile,
  sendContent,
} from '../../files/files.ts'
import { badRequest, forbidden } from '../../platform/http/errors.ts'
import { etagOf } from '../../platform/http/etag.ts'
import { checkConditions, depthOf, tagOfHash } from './conditions.ts'
import type { DavDeps } from './deps.ts'
import { DavError } from './errors.ts'
import { requireUnlocked } from './locks/locks.ts'
import { deleteLocks } from './locks/queries.ts'
import { hrefOfTarget, requireExisting, requireParent, targetOf } from './paths.ts'
import type { Target } from './paths.ts'

export const methods = [
  'OPTIONS',
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
  'PROPFIND',
  'PROPPATCH',
  'MKCOL',
  'COPY',
  'MOVE',
  'LOCK',
  'UNLOCK',
] as const
export const allowed = methods.join(', ')

const notAllowed = (message: string) => new DavError('BAD_REQUEST', message, { status: 405, allow: allowed })

/** The folder of the path and the name that it has or gets there. */
export const placeOf = (target: Target): { parentId: string | null; name: string } => ({
  parentId: requireParent(target).parentId,
  name: target.entry?.name ?? target.names.at(-1) ?? '',
})

const conditionDeps = ({ db, config }: DavDeps) => ({ db, baseUrl: config.baseUrl })

/** Sends the bytes of a file. */
export const get = async ({ db, objects }: DavDeps, request: FastifyRequest, reply: FastifyReply) => {
  const target = requireExisting(await targetOf(db, request))
  if (!target.entry || target.isFolder) throw notAllowed('A folder has no content. List it with PROPFIND.')
  const content = await getContent(db, request.actor, target.entry.id)
  reply.header('last-modified', new Date(target.entry.contentAt).toUTCString())
  const headers = downloadHeaders(content.mimeType, dispositionOf('attachment', content.name))
  return sendContent(request, reply, {
    objects,
    content: { ...content, contentHash: tagOfHash(content.contentHash) },
    headers,
  })
}

const bytesOf = (request: FastifyRequest): AsyncIterable<Buffer> =>
  (request.raw as Readable).iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>

/** Stores the body as a new file, or as a new version of a file. */
export const put = async (deps: DavDeps, request: FastifyRequest, reply: FastifyReply) => {
  const { db } = deps
  const { actor, headers } = request
  if (headers['content-range'] !== undefined) throw badRequest('A part of a file cannot be stored.')
  const target = await targetOf(db, request)
  if (target.isFolder) throw notAllowed('A folder has no content.')
  const parent = requireParent(target)
  const tokens = await checkConditions(conditionDeps(deps), request, target)
  const { entry, chain } = target
  if (entry?.source === 'link') throw forbidden('A link cannot be overwritten. Change the file that it links to.')
  const place = placeOf(target)
  const change = { chain: entry ? chain : parent.chain, href: hrefOfTarget(target) }
  // Before the body is read, and again in the transaction of the change.
  await db.transaction(actor, (db) => requireUnlocked(db, actor, tokens, [change]))
  const row = await putFile(deps, actor, {
    ...place,
    replaced: entry && { id: entry.id, mimeType: entry.mimeType, ifMatch: etagOf(entry) },
    declaredType: headers['content-type'],
    sizeBytes: declaredLength(headers['content-length']),
    body: bytesOf(request),
    transactions: db.guarded(async (db) => {
      await requireUnlocked(db, actor, tokens, [change])
      if (!entry) await claimName(db, actor, place, undefined)
    }),
  })
  return reply
    .code(entry ? 204 : 201)
    .header('etag', `"${tagOfHash(row.contentHash ?? '')}"`)
    .send()
}

/** Creates a folder. */
export const mkcol = async (deps: DavDeps, request: FastifyRequest, reply: FastifyReply) => {
  const { db, quotas } = deps
  const { actor } = request
  if ((request.body as Buffer | undefined)?.length) {
    throw new DavError('BAD_REQUEST', 'MKCOL with a body is not supported.', { status: 415 })
  }
  const target = await targetOf(db, request)
  if (target.exists) throw notAllowed('A file or folder with this name exists.')
  const parent = requireParent(target)
  const tokens = await checkConditions(conditionDeps(deps), request, target)
  const place = placeOf(target)
  const guarded = db.guarded(async (db) => {
    await requireUnlocked(db, actor, tokens, [{ chain: parent.chain, href: hrefOfTarget(target) }])
    await claimName(db, actor, place, undefined)
  })
  await createFile(guarded, quotas, actor, { source: 'folder', ...place })
  return reply.code(201).send()
}

/** Moves a file, or a folder with its contents, to the trash. */
export const remove = async (deps: DavDeps, request: FastifyRequest, reply: FastifyReply) => {
  const { db } = deps
  const { actor } = request
  const target = requireExisting(await targetOf(db, request))
  if (target.isFolder) depthOf(request, ['infinity'])
  const tokens = await checkConditions(conditionDeps(deps), request, target)
  const { entry, chain } = target
  if (!entry) throw forbidden('The root folder cannot be deleted.')
  const href = hrefOfTarget(target)
  const guarded = db.guarded(async (db) => {
    const changes = [
      { chain, href, isDeep: true },
      { chain: requireParent(target).chain, href },
    ]
    const locks = await requireUnlocked(db, actor, tokens, changes)
    if (locks.length > 0)
      await deleteLocks(
        db,
        actor.orgId,
        locks.map(({ id }) => id),
      )
  })
  await deleteFile({ ...deps, db: guarded }, actor, entry.id, { ifMatch: etagOf(entry) })
  return reply.code(204).send()
}
