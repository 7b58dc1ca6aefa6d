import { listAgents } from '../../agents/agents.ts'
import { listFiles } from '../../files/files.ts'
import { may } from '../../identity/actor.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { isCleanText } from '../../platform/text/text.ts'
import { isRecord } from './params.ts'
import { agentTemplate, fileTemplate } from './resources.ts'
import { RpcError } from './rpc.ts'

/** The protocol allows 100 values; a search for more names costs more than a person can read. */
const maxValues = 20
const maxValueLength = 255

const agentSlugs = async (db: Db, actor: Actor, value: string): Promise<string[]> => {
  if (!may(actor, 'agents:read')) return []
  const { items } = await listAgents(db, actor, {})
  return items.filter(({ isActive, slug }) => isActive && slug.startsWith(value.toLowerCase())).map(({ slug }) => slug)
}

/** The ids of files whose name contains the value. */
const fileIds = async (db: Db, actor: Actor, value: string): Promise<string[]> => {
  if (!may(actor, 'files:read') || !isCleanText(value)) return []
  const search = value === '' ? {} : { search: value }
  const { items } = await listFiles(db, actor, { ...search, recursive: value !== '', limit: maxValues + 1, page: 1 })
  return items.map(({ id }) => id)
}

/** Completes variables of templates. The argument of a prompt is free text and has no completions. */
export const complete = async (db: Db, actor: Actor, params: Record<string, unknown>): Promise<object> => {
  const { ref, argument } = params
  const isPrompt = isRecord(ref) && ref['type'] === 'ref/prompt' && typeof ref['name'] === 'string'
  const isResource = isRecord(ref) && ref['type'] === 'ref/resource' && typeof ref['uri'] === 'string'
  if (!isPrompt && !isResource) {
    throw new RpcError('invalidParams', 'params.ref must be a ref/prompt with a name or a ref/resource with a uri.')
  }
  const { name, value } = isRecord(argument) ? argument : {}
  if (typeof name !== 'string' || typeof value !== 'string' || value.length > maxValueLength) {
    const rule = `params.argument must have a name and a value of at most ${maxValueLength} characters.`
    throw new RpcError('invalidParams', rule)
  }
  const target = isResource ? `${String(ref['uri'])} ${name}` : ''
  const found =
    target === `${agentTemplate} slug`
      ? await agentSlugs(db, actor, value)
      : target === `${fileTemplate} id`
        ? await fileIds(db, actor, value)
        : []
  return { completion: { values: found.slice(0, maxValues), hasMore: found.length > maxValues } }
}
