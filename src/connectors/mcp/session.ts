import { badRequest } from '../../platform/http/errors.ts'
import { cutName } from '../../platform/text/text.ts'
import { addTools } from './tool-list.ts'
import type { McpTool } from './tool-list.ts'

export interface McpTarget {
  url: URL
  token: string | undefined
  /** Redacts the secrets of the connection, before anything is cut: half a token is a secret, too. */
  scrub: (text: string) => string
  trusted: boolean
  /** The org whose DNS look-ups are counted. */
  orgId: string
  /** Answers a question of the server to the user. Without it, every question is cancelled. */
  elicit?: ((params: unknown) => Elicited) | undefined
}

/** The result of `elicitation/create`. */
export type Elicited = { action: 'accept'; content: object } | { action: 'decline' | 'cancel' }

/** What a server declares besides tools. */
export interface ServerFeatures {
  resources?: true
  prompts?: true
}

export interface ItemList {
  items: Record<string, unknown>[]
  /** False when the server has more. */
  isComplete: boolean
}

/** A session with one server (MCP, Streamable HTTP transport). */
export interface McpSession {
  serverName: string
  features: ServerFeatures
  listTools(): Promise<McpTool[]>
  /** Up to `max` objects of a paged list, unchecked. */
  listItems(method: string, key: string, max: number): Promise<ItemList>
  /** The `result` of the response, unchecked. */
  request(method: string, params: object): Promise<Record<string, unknown>>
  /** The `result` of the response, unchecked. */
  callTool(name: string, input: unknown): Promise<unknown>
  close(): Promise<void>
}

const maxPages = 20
const maxNameLength = 100

/** What a server declares in the result of `initialize` or `server/discover`. */
export const featuresOf = (initialized: Record<string, unknown>): ServerFeatures => {
  const declared = (initialized['capabilities'] ?? {}) as Record<string, unknown>
  const isDeclared = (feature: string): boolean => typeof declared[feature] === 'object' && declared[feature] !== null
  return {
    ...(isDeclared('resources') ? { resources: true } : {}),
    ...(isDeclared('prompts') ? { prompts: true } : {}),
  }
}

type RequestPage = (params: object) => Promise<Record<string, unknown>>

/** All tools of a paged list, within the limits. */
export const collectTools = async (requestPage: RequestPage): Promise<McpTool[]> => {
  const tools: McpTool[] = []
  let cursor: unknown
  for (let page = 0; page < maxPages; page++) {
    const result = await requestPage(cursor === undefined ? {} : { cursor })
    if (Array.isArray(result['tools'])) addTools(tools, result['tools'])
    cursor = result['nextCursor']
    if (cursor === undefined || cursor === null) return tools
  }
  throw badRequest(`The MCP server lists its tools in more than ${maxPages} pages.`)
}

/** Up to `max` objects of a paged list, unchecked. */
export const collectItems = async (requestPage: RequestPage, key: string, max: number): Promise<ItemList> => {
  const items: Record<string, unknown>[] = []
  let cursor: unknown
  for (let page = 0; page < maxPages && items.length <= max; page++) {
    const result = await requestPage(cursor === undefined ? {} : { cursor })
    const found: unknown[] = Array.isArray(result[key]) ? result[key] : []
    for (const one of found) if (typeof one === 'object' && one !== null) items.push(one as Record<string, unknown>)
    cursor = result['nextCursor'] ?? undefined
    if (cursor === undefined) break
  }
  return { items: items.slice(0, max), isComplete: cursor === undefined && items.length <= max }
}

/** The name that a server gives itself, or its host. */
export const serverNameOf = (serverInfo: unknown, { url }: McpTarget): string => {
  const { name } = (serverInfo ?? {}) as { name?: unknown }
  const shown = typeof name === 'string' ? cutName(name, maxNameLength) : ''
  return shown === '' ? url.host : shown
}

/** Shows a question to the person without the secrets of the connection. */
export const askPerson = ({ scrub, elicit }: McpTarget, params: unknown): Elicited => {
  const clean: unknown = JSON.parse(scrub(JSON.stringify(params ?? null)))
  return elicit?.(clean) ?? { action: 'cancel' }
}
