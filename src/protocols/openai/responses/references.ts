// Items of earlier responses that a request names by their ids instead of repeating them.
import type { Actor } from '../../../identity/actor.ts'
import type { Db } from '../../../platform/database/database.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { createReadQueue } from '../../../platform/http/limits/read-queue.ts'
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
/** Of the turns that have the items. A turn can be much longer than those of its items that are named. */
const maxReadCharacters = 16_777_216

/** One request may read that much, so those of an org are resolved one at a time, and its people take turns. */
const queue = createReadQueue('Too many requests with references right now. Try again shortly.')

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

/** As JSON, without integers of any size, which JSON does not have. */
const lengthOf = (details: Details): number =>
  JSON.stringify(details, (_, value: unknown) => (typeof value === 'bigint' ? null : value)).length

/** The wanted items of a turn that the caller has got from responses, by their ids, and the length of the whole turn. */
const itemsOfTurn = async (
  db: Db,
  actor: Actor,
  turnId: string,
  wanted: ReadonlySet<unknown>,
): Promise<{ items: Map<string, FoundItem>; characters: number }> => {
  const details = await findOwnTurn(db, actor, turnId)
  if (!details) return { items: new Map(), characters: 0 }
  const calls = callerRounds(details.turn)
    .flatMap((round) => round.calls)
    .map((call) => callItem(toChatToolCall(turnId, call)))
  const responses = Object.entries(await queries.listResponses(db, actor.orgId, turnId))
  const stored = responses.flatMap(([afterStep, record]) =>
    record?.isStored === true ? toResponse({ turnId, afterStep: Number(afterStep) }, details, record).output : [],
  )
  const items = new Map(
    ([...calls, ...stored] as (Item & { id: string })[])
      .filter(({ id }) => wanted.has(id))
      .map((item) => [item.id, { item, characters: JSON.stringify(item).length }]),
  )
  return { items, characters: lengthOf(details) }
}

/** Finds items of turns of the caller, which are loaded once each. */
const createItemReader = (db: Db, actor: Actor, wanted: ReadonlySet<unknown>) => {
  const turns = new Map<string, Map<string, FoundItem>>()
  let read = 0
  return async (id: string): Promise<FoundItem | undefined> => {
    const turnId = turnIdOf(id)
    if (turnId === undefined) return undefined
    let items = turns.get(turnId)
    if (!items) {
      if (turns.size >= maxTurns) throw invalid('input', `input must refer to items of at most ${maxTurns} responses`)
      if (read > maxReadCharacters) {
        throw invalid(
          'input',
          `input must refer to items of responses of at most ${maxReadCharacters} characters in total`,
        )
      }
      const turn = await itemsOfTurn(db, actor, turnId, wanted)
      ;({ items } = turn)
      read += turn.characters
      turns.set(turnId, items)
    }
    return items.get(id)
  }
}

const replaceReferences = async (db: Db, actor: Actor, input: readonly Item[]): Promise<Item[]> => {
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
  if (!input.some(isReference)) return [...input]
  return queue.run(() => replaceReferences(db, actor, input), { group: actor.orgId, member: actor.userId })
}
