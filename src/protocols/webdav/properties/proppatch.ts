import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../../identity/actor.ts'
import type { Database } from '../../../platform/database/database.ts'
import { badRequest, forbidden } from '../../../platform/http/errors.ts'
import { checkConditions } from '../conditions.ts'
import { insufficientStorage } from '../errors.ts'
import { requireUnlocked } from '../locks/locks.ts'
import { hrefOfTarget, requireChangeable, requireExisting, targetOf } from '../paths.ts'
import { davChild, elementsOf, readXml, writeElement } from '../xml/read.ts'
import type { XmlElement } from '../xml/read.ts'
import { davDocument, davElement, davNamespace, xmlType } from '../xml/write.ts'
import { emptyElement, isLive, propstat, response } from './properties.ts'
import type { PropertyName } from './properties.ts'
import * as queries from './queries.ts'
import type { DeadProperty } from './queries.ts'

/** Properties of one file that clients have set. */
const limits = { count: 50, characters: 16_384 }

type Step = PropertyName & { value: string | undefined }

const stepOf = (property: XmlElement, isSet: boolean): Step => {
  const { namespace, name } = property
  if (!isSet) return { namespace, name, value: undefined }
  const value = writeElement(property, limits.characters)
  if (value === undefined) throw insufficientStorage(`A property must have at most ${limits.characters} characters.`)
  return { namespace, name, value }
}

const withLanguage = (property: XmlElement, ...outer: XmlElement[]): XmlElement => {
  const isLanguage = ({ namespace, name }: XmlElement['attributes'][number]): boolean =>
    name === 'lang' && namespace === 'http://www.w3.org/XML/1998/namespace'
  const language = [property, ...outer].flatMap(({ attributes }) => attributes.find(isLanguage) ?? [])[0]
  if (language === undefined || property.attributes.some(isLanguage)) return property
  return { ...property, attributes: [...property.attributes, language] }
}

/** The changes of a PROPPATCH in order. Throws BAD_REQUEST. */
export const readSteps = (body: Buffer | undefined): Step[] => {
  if (body === undefined || body.length === 0) throw badRequest('The body must be the element DAV:propertyupdate.')
  const root = readXml(body)
  if (root.namespace !== davNamespace || root.name !== 'propertyupdate')
    throw badRequest('The body must be the element DAV:propertyupdate.')
  return elementsOf(root).flatMap((instruction) => {
    const isSet = instruction.name === 'set'
    if (instruction.namespace !== davNamespace || (!isSet && instruction.name !== 'remove')) return []
    const prop = davChild(instruction, 'prop')
    if (!prop) throw badRequest(`DAV:${instruction.name} must have DAV:prop.`)
    return elementsOf(prop).map((property) => stepOf(withLanguage(property, prop, instruction, root), isSet))
  })
}

/** The properties after the changes. Throws 507 when there are too many. */
export const applySteps = (properties: readonly DeadProperty[], steps: readonly Step[]): DeadProperty[] => {
  const byName = new Map(properties.map((one) => [`${one.namespace}\n${one.name}`, one]))
  for (const { namespace, name, value } of steps) {
    const key = `${namespace}\n${name}`
    if (value === undefined) byName.delete(key)
    else byName.set(key, { namespace, name, value })
  }
  const changed = [...byName.values()]
  const characters = changed.reduce((sum, { value }) => sum + value.length, 0)
  if (changed.length > limits.count || characters > limits.characters) {
    throw insufficientStorage(
      `A file can have at most ${limits.count} properties with ${limits.characters} characters together.`,
    )
  }
  return changed
}

export interface ProppatchDeps {
  db: Database
  config: { baseUrl?: string | undefined }
}

const store = (
  db: Database,
  actor: Actor,
  fileId: string,
  { steps, guard }: { steps: readonly Step[]; guard: Parameters<Database['guarded']>[0] },
): Promise<void> =>
  db.guarded(guard).transaction(actor, async (db) => {
    const { orgId } = actor
    const before = (await queries.lockProperties(db, orgId, fileId))?.properties ?? []
    const after = applySteps(before, steps)
    if (after.length > 0) await queries.setProperties(db, orgId, fileId, after)
    else await queries.deleteProperties(db, orgId, fileId)
  })

/** Sets and removes properties: all of them or none. */
export const proppatch = async ({ db, config }: ProppatchDeps, request: FastifyRequest, reply: FastifyReply) => {
  const { actor } = request
  const target = requireChangeable(requireExisting(await targetOf(db, request)))
  const tokens = await checkConditions({ db, baseUrl: config.baseUrl }, request, target)
  const steps = readSteps(request.body as Buffer | undefined)
  const href = hrefOfTarget(target)
  const send = (propstats: string) =>
    reply
      .code(207)
      .type(xmlType)
      .send(davDocument('multistatus', response(href, propstats)))
  const fixed = steps.filter(isLive)
  if (fixed.length > 0) {
    const others = steps.filter((step) => !isLive(step))
    const condition = davElement('error', davElement('cannot-modify-protected-property'))
    return send(propstat(403, fixed.map(emptyElement), condition) + propstat(424, others.map(emptyElement)))
  }
  if (!target.entry) throw forbidden('The root folder has no properties of clients.')
  await store(db, actor, target.entry.id, {
    steps,
    guard: async (db) => void (await requireUnlocked(db, actor, tokens, [{ chain: target.chain, href }])),
  })
  return send(propstat(200, steps.map(emptyElement)))
}
