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
/** A conversation without references has at most 1 MB, the size of a body. */
const maxCharacters = 4_194_304

const isReference = ({ type, id, role }: Item): boolean =>
  type === 'item_reference' || ((type === undefined || type === null) && role === undefined && id !== undefined)

const callIdOf = (id: string): string => id.replace(/^fc_/, 'call_')

/** The turn that an item of a response belongs to. */
const turnIdOf = (id: string): string | undefined =>
  id.startsWith('fc_')
    ? parseToolCallId(callIdOf(id))?.turnId
    : parseResponseId(id.replace(/^(?:msg|rs)_/, 'resp_'))?.turnId

interface FoundItem {
  item: Item
  /** The length of the item as JSON. */
  characters: number
}

const findOwnTurn = async (db: Db, actor: Actor, turnId: string): Promise<Details | undefined> => {
  try {
    const details = await getTurnWithReply(db, actor, turnId)
    return details.turn.userId === actor.userId ? details : undefined
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

/** Those of the wanted items of a turn that the caller has got from responses, by their ids. */
const itemsOfTurn = async (
  db: Db,
  actor: Actor,
  turnId: string,
  wanted: ReadonlySet<unknown>,
): Promise<Map<string, FoundItem>> => {
  const details = await findOwnTurn(db, actor, turnId)
  if (!details) return new Map()
  const calls = callerRounds(details.turn)
    .flatMap((round) => round.calls)
    .map((call) => callItem(toChatToolCall(turnId, call)))
  const responses = Object.entries(await queries.listResponses(db, actor.orgId, turnId))
  const stored = responses.flatMap(([afterStep, record]) =>
    record?.isStored === true ? toResponse({ turnId, afterStep: Number(afterStep) }, details, record).output : [],
  )
  return new Map(
    ([...calls, ...stored] as (Item & { id: string })[])
      .filter(({ id }) => wanted.has(id))
      .map((item) => [item.id, { item, characters: JSON.stringify(item).length }]),
  )
}

/** Finds items of turns of the caller, which are loaded once each. */
const createItemReader = (db: Db, actor: Actor, wanted: ReadonlySet<unknown>) => {
  const turns = new Map<string, Map<string, FoundItem>>()
  return async (id: string): Promise<FoundItem | undefined> => {
    const turnId = turnIdOf(id)
    if (turnId === undefined) return undefined
    let items = turns.get(turnId)
    if (!items) {
      if (turns.size >= maxTurns) throw invalid('input', `input must refer to items of at most ${maxTurns} responses`)
      items = await itemsOfTurn(db, actor, turnId, wanted)
      turns.set(turnId, items)
    }
    return items.get(id)
  }
}

/**
 * Replaces references by the items that they name. Throws a ChatError that names the first one whose item does not exist,
 * was not stored, or is another person's, and when the items are too long in total: a reference is short, and its item
 * need not be.
 */
export const resolveReferences = async (
  db: Db,
  actor: Actor,
  input: string | readonly Item[],
): Promise<string | Item[]> => {
  if (typeof input === 'string') return input
  // Other items of these turns can be large, and are not kept.
  const find = createItemReader(db, actor, new Set(input.filter(isReference).map(({ id }) => id)))
  const items: Item[] = []
  let characters = 0
  for (const [place, item] of input.entries()) {
    if (!isReference(item)) {
      items.push(item)
      continue
    }
    const id = typeof item['id'] === 'string' ? item['id'].slice(0, 200) : ''
    const found = await find(id)
    if (!found) throw invalid(`input[${place}].id`, `Item with id '${id}' not found.`)
    characters += found.characters
    if (characters > maxCharacters) {
      throw invalid('input', `input must refer to items of at most ${maxCharacters} characters in total`)
    }
    items.push(found.item)
  }
  return items
}
