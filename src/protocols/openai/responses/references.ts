// Items of earlier responses that a request names by their ids instead of repeating them.
import type { Actor } from '../../../identity/actor.ts'
import type { Db } from '../../../platform/database/database.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { getTurnWithReply } from '../../../sessions/turns/turn-details.ts'
import type { Details } from '../completions.ts'
import { callerRounds } from '../continuation.ts'
import { invalid } from '../errors.ts'
import { parseToolCallId, toChatToolCall } from '../tools.ts'
import * as queries from './queries.ts'
import { callItem, parseResponseId, toResponse } from './response.ts'

type Item = Record<string, unknown>

/** Each needs two queries. */
const maxTurns = 100

const isReference = ({ type, id, role }: Item): boolean =>
  type === 'item_reference' || ((type === undefined || type === null) && role === undefined && id !== undefined)

const callIdOf = (id: string): string => id.replace(/^fc_/, 'call_')

/** The turn that an item of a response belongs to. */
const turnIdOf = (id: string): string | undefined =>
  id.startsWith('fc_')
    ? parseToolCallId(callIdOf(id))?.turnId
    : parseResponseId(id.replace(/^(?:msg|rs)_/, 'resp_'))?.turnId

const findCall = (id: string, { turn }: Details): object | undefined => {
  const call = callerRounds(turn)
    .flatMap(({ calls }) => calls)
    .find((one) => one.id === parseToolCallId(callIdOf(id))?.callId)
  return call && callItem(toChatToolCall(turn.id, call))
}

/** The item, or undefined for one that the caller has not got from a response. */
const findItem = async (db: Db, actor: Actor, id: string, details: Details): Promise<object | undefined> => {
  if (id.startsWith('fc_')) return findCall(id, details)
  const ref = parseResponseId(id.replace(/^(?:msg|rs)_/, 'resp_'))
  const record = ref && (await queries.findResponse(db, actor.orgId, ref.turnId, ref.afterStep))
  if (!ref || !record?.isStored) return undefined
  return toResponse(ref, details, record).output.find((item) => (item as { id: string }).id === id)
}

/** Loads turns of the caller, each once. */
const createTurnReader = (db: Db, actor: Actor) => {
  const turns = new Map<string, Promise<Details | undefined>>()
  const load = async (turnId: string): Promise<Details | undefined> => {
    try {
      const details = await getTurnWithReply(db, actor, turnId)
      return details.turn.userId === actor.userId ? details : undefined
    } catch (error) {
      if (error instanceof ApiError && error.code === 'NOT_FOUND') return undefined
      throw error
    }
  }
  return (turnId: string): Promise<Details | undefined> => {
    const known = turns.get(turnId)
    if (known) return known
    if (turns.size >= maxTurns) throw invalid('input', `input must refer to items of at most ${maxTurns} responses`)
    const loading = load(turnId)
    turns.set(turnId, loading)
    return loading
  }
}

/**
 * Replaces references by the items that they name. Throws a ChatError that names the first one whose item does not exist,
 * was not stored, or is another person's.
 */
export const resolveReferences = async (
  db: Db,
  actor: Actor,
  input: string | readonly Item[],
): Promise<string | Item[]> => {
  if (typeof input === 'string') return input
  const readTurn = createTurnReader(db, actor)
  const items: Item[] = []
  for (const [place, item] of input.entries()) {
    if (!isReference(item)) {
      items.push(item)
      continue
    }
    const id = typeof item['id'] === 'string' ? item['id'].slice(0, 200) : ''
    const turnId = turnIdOf(id)
    const details = turnId === undefined ? undefined : await readTurn(turnId)
    const found = details && (await findItem(db, actor, id, details))
    if (!found) throw invalid(`input[${place}].id`, `Item with id '${id}' not found.`)
    items.push(found as Item)
  }
  return items
}
