import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { listPathEntries, readSpace } from '../../../files/files.ts'
import type { PathEntry, StoreDeps } from '../../../files/files.ts'
import type { Actor } from '../../../identity/actor.ts'
import { onceClosed } from '../../../platform/http/closed.ts'
import { badRequest } from '../../../platform/http/errors.ts'
import { depthOf } from '../conditions.ts'
import { DavError } from '../errors.ts'
import { listLocks } from '../locks/queries.ts'
import { hrefOf, hrefOfTarget, requireExisting, targetOf } from '../paths.ts'
import type { Target } from '../paths.ts'
import { davChild, elementsOf, readXml } from '../xml/read.ts'
import type { XmlElement } from '../xml/read.ts'
import { davElement, davNamespace, xmlType } from '../xml/write.ts'
import { asksForQuota, needsDead, responseOf } from './properties.ts'
import type { PropertyContext, PropertyName, Resource, Wanted } from './properties.ts'
import { listProperties } from './queries.ts'
import type { DeadProperty } from './queries.ts'

/** Each name is repeated for each file of a folder. */
const maxNames = 100
/** Files whose properties are in memory at the same time. Those that clients set have 16 KB for each file. */
const filesAtOnce = 50
/** A client that reads slowly holds so much text of a listing, and that of one file more. */
const chunkCharacters = 65_536

const namesIn = (element: XmlElement): PropertyName[] => {
  const names = elementsOf(element).map(({ namespace, name }) => ({ namespace, name }))
  if (names.length > maxNames) throw badRequest(`A PROPFIND must name at most ${maxNames} properties.`)
  return names
}

/** What the body of a PROPFIND asks for. Throws BAD_REQUEST. */
export const readWanted = (body: Buffer | undefined): Wanted => {
  if (body === undefined || body.length === 0) return { kind: 'all', include: [] }
  const root = readXml(body)
  if (root.namespace !== davNamespace || root.name !== 'propfind')
    throw badRequest('The body must be the element DAV:propfind.')
  const prop = davChild(root, 'prop')
  if (prop) return { kind: 'some', names: namesIn(prop) }
  if (davChild(root, 'propname')) return { kind: 'names' }
  if (!davChild(root, 'allprop')) throw badRequest('DAV:propfind must have DAV:prop, DAV:propname or DAV:allprop.')
  const include = davChild(root, 'include')
  return { kind: 'all', include: include ? namesIn(include) : [] }
}

export type PropfindDeps = Pick<StoreDeps, 'db' | 'quotas'>

const deadOf = async (
  { db }: PropfindDeps,
  { orgId }: Actor,
  wanted: Wanted,
  ids: readonly string[],
): Promise<Map<string, DeadProperty[]>> => {
  if (ids.length === 0 || !needsDead(wanted)) return new Map()
  const rows = await listProperties(db.replica, orgId, ids)
  return new Map(rows.map(({ fileId, properties }) => [fileId, properties]))
}

const childOf = (target: Target, entry: PathEntry): Resource => ({
  href: hrefOf([...target.names, entry.pathName], entry.source === 'folder'),
  entry,
  chain: [...target.chain, entry.id],
})

const multistatus = async function* (
  deps: PropfindDeps,
  target: Target,
  { wanted, context, isDeep }: { wanted: Wanted; context: PropertyContext; isDeep: boolean },
): AsyncGenerator<string, void, undefined> {
  const { actor } = context
  yield `<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="${davNamespace}">`
  const own = { href: hrefOfTarget(target), entry: target.entry, chain: target.chain }
  const ofOwn = await deadOf(deps, actor, wanted, target.entry ? [target.entry.id] : [])
  yield responseOf(wanted, own, context, ofOwn.get(target.entry?.id ?? '') ?? [])
  if (isDeep) {
    for await (const page of listPathEntries(deps.db.replica, actor, target.chain.at(-1) ?? actor.orgId)) {
      for (let from = 0; from < page.length; from += filesAtOnce) {
        const entries = page.slice(from, from + filesAtOnce)
        const ids = entries.map(({ id }) => id)
        const dead = await deadOf(deps, actor, wanted, ids)
        let text = ''
        for (const entry of entries) {
          text += responseOf(wanted, childOf(target, entry), context, dead.get(entry.id) ?? [])
          if (text.length < chunkCharacters) continue
          yield text
          text = ''
        }
        if (text !== '') yield text
      }
    }
  }
  yield '</D:multistatus>'
}

/** Sends properties of a file, or of a folder and what is in it, as fast as the client reads, so that memory is bounded. */
export const propfind = async (deps: PropfindDeps, request: FastifyRequest, reply: FastifyReply) => {
  const { actor } = request
  const depth = depthOf(request, ['0', '1', 'infinity'])
  const target = requireExisting(await targetOf(deps.db, request))
  if (depth === 'infinity' && target.isFolder) {
    throw new DavError('FORBIDDEN', 'Depth must be 0 or 1.', {
      status: 403,
      condition: davElement('propfind-finite-depth'),
    })
  }
  const wanted = readWanted(request.body as Buffer | undefined)
  const names = wanted.kind === 'some' ? wanted.names : wanted.kind === 'all' ? wanted.include : []
  const context: PropertyContext = {
    actor,
    locks: await listLocks(deps.db, actor),
    space: asksForQuota(names) ? await readSpace(deps.quotas, actor) : undefined,
    hrefOfId: ({ href, chain }, id) => {
      const level = chain.indexOf(id)
      return level === chain.length - 1 ? href : hrefOf(target.names.slice(0, level), true)
    },
  }
  const texts = multistatus(deps, target, { wanted, context, isDeep: depth !== '0' && target.isFolder })
  const body = Readable.from(texts, { highWaterMark: 1 })
  const unwatch = request.watchAuthority(() => void reply.raw.destroy())
  onceClosed(reply.raw, unwatch)
  return reply.code(207).type(xmlType).send(body)
}
