import { findAgent, listAgents } from '../../agents/agents.ts'
import { may } from '../../identity/actor.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { cursorOf, isRecord } from './params.ts'
import { RpcError } from './rpc.ts'

const perPage = 100
const maxTextLength = 100_000

/** Whoever may not ask agents has no use for the prompts, which ask them. */
const mayAsk = (actor: Actor): boolean => may(actor, 'agents:read') && may(actor, 'sessions:write')

const promptArguments = [{ name: 'text', description: 'The message to the agent', required: true }]

/** One prompt per active agent, named by its slug. */
export const listPrompts = async (db: Db, actor: Actor, params: Record<string, unknown>): Promise<object> => {
  const cursor = cursorOf(params)
  if (!mayAsk(actor)) return { prompts: [] }
  try {
    const { items, nextCursor } = await listAgents(db, actor, {
      limit: perPage,
      ...(cursor === undefined ? {} : { cursor }),
    })
    const prompts = items
      .filter(({ isActive }) => isActive)
      .map(({ slug, name, description }) => ({
        name: slug,
        title: name,
        description: description ?? `Asks the agent ${name}.`,
        arguments: promptArguments,
      }))
    return { prompts, ...(nextCursor === null ? {} : { nextCursor }) }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'BAD_REQUEST') throw new RpcError('invalidParams', error.message)
    throw error
  }
}

/**
 * The message with which a person asks the agent through the tool. It has neither the agent's system prompt nor its
 * description: another member wrote them, and the client's model would read them as words of its own user.
 */
export const getPrompt = async (db: Db, actor: Actor, params: Record<string, unknown>): Promise<object> => {
  const { name, arguments: given = {} } = params
  if (typeof name !== 'string') throw new RpcError('invalidParams', 'params.name must be a string.')
  const agent = mayAsk(actor) && /^[a-z\d-]{1,255}$/.test(name) ? await findAgent(db, actor, name) : undefined
  if (!agent?.isActive || agent.slug !== name) {
    throw new RpcError('invalidParams', 'The prompt does not exist. prompts/list returns the available prompts.')
  }
  const text = isRecord(given) ? given['text'] : undefined
  if (typeof text !== 'string' || text.trim() === '' || text.length > maxTextLength) {
    throw new RpcError('invalidParams', `params.arguments.text must have 1–${maxTextLength} characters.`)
  }
  const message = `Call the tool agents_ask with the agent "${agent.slug}" and this text:\n\n${text}`
  return {
    description: `Asks the agent ${agent.slug}.`,
    messages: [{ role: 'user', content: { type: 'text', text: message } }],
  }
}
