import { ProviderError } from '../connections/provider-error.ts'
import type { ItemList, McpSession, ServerFeatures } from './session.ts'
import { textContentOf } from './content.ts'

/** A tool of Atrium for the resources or prompts of a server. Its description is ours, so it needs no acceptance. */
export interface FeatureTool {
  name: string
  description: string
  inputSchema: object
  feature: keyof ServerFeatures
  /** Takes no arguments, so that a model cannot send anything to the server with it. */
  isReadOnly: boolean
  run(session: McpSession, input: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** Further items are left out: a list is for a model, and a result has 64 KB. */
const maxItems = 200
const maxTemplates = 50
const maxArguments = 32
const maxParts = 100
const maxUriLength = 2_048
const maxTextLength = 1_024

type Item = Record<string, unknown>

type Fields = Readonly<Record<string, 'string' | 'number' | 'boolean'>>

/** The fields that have the expected type, with texts cut. Everything else of the server is dropped. */
const pickFrom = (item: Item, fields: Fields): Item =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, type]): [string, unknown][] => {
      const value = item[name]
      if (typeof value !== type) return []
      return [[name, typeof value === 'string' ? value.slice(0, maxTextLength) : value]]
    }),
  )

const resourceFields: Fields = {
  name: 'string',
  title: 'string',
  description: 'string',
  mimeType: 'string',
  size: 'number',
}

/** A URI that was cut would name something else, so items with longer ones are dropped. */
const withUri = (items: readonly Item[], key: 'uri' | 'uriTemplate'): Item[] =>
  items.flatMap((item) => {
    const uri = item[key]
    if (typeof uri !== 'string' || uri === '' || uri.length > maxUriLength) return []
    return [{ [key]: uri, ...pickFrom(item, resourceFields) }]
  })

/** Servers without templates reject the request. */
const listTemplates = async (session: McpSession): Promise<ItemList> => {
  try {
    return await session.listItems('resources/templates/list', 'resourceTemplates', maxTemplates)
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure !== 'rejected') throw error
    return { items: [], isComplete: true }
  }
}

const listResources = async (session: McpSession): Promise<unknown> => {
  const resources = await session.listItems('resources/list', 'resources', maxItems)
  const templates = await listTemplates(session)
  return {
    resources: withUri(resources.items, 'uri'),
    resourceTemplates: withUri(templates.items, 'uriTemplate'),
    ...(resources.isComplete && templates.isComplete ? {} : { truncated: true }),
  }
}

const readResource = async (session: McpSession, input: Readonly<Record<string, unknown>>): Promise<unknown> => {
  const { contents } = await session.request('resources/read', { uri: input['uri'] })
  const parts = (Array.isArray(contents) ? contents : []) as unknown[]
  return {
    contents: parts.slice(0, maxParts).map((resource) => textContentOf({ type: 'resource', resource })),
    ...(parts.length > maxParts ? { truncated: true } : {}),
  }
}

const argumentFields: Fields = { name: 'string', description: 'string', required: 'boolean' }

const argumentsOf = (prompt: Item): Item[] => {
  const list = (Array.isArray(prompt['arguments']) ? prompt['arguments'] : []) as (Item | null)[]
  return list.slice(0, maxArguments).map((one) => pickFrom(one ?? {}, argumentFields))
}

const listPrompts = async (session: McpSession): Promise<unknown> => {
  const { items, isComplete } = await session.listItems('prompts/list', 'prompts', maxItems)
  return {
    prompts: items.map((prompt) => ({
      ...pickFrom(prompt, { name: 'string', title: 'string', description: 'string' }),
      arguments: argumentsOf(prompt),
    })),
    ...(isComplete ? {} : { truncated: true }),
  }
}

const getPrompt = async (session: McpSession, input: Readonly<Record<string, unknown>>): Promise<unknown> => {
  const params = { name: input['name'], arguments: input['arguments'] ?? {} }
  const { description, messages } = await session.request('prompts/get', params)
  const list = (Array.isArray(messages) ? messages : []) as ({ role?: unknown; content?: unknown } | null)[]
  return {
    ...pickFrom({ description }, { description: 'string' }),
    messages: list.slice(0, maxParts).map((message) => ({
      ...pickFrom({ role: message?.role }, { role: 'string' }),
      content: textContentOf(message?.content),
    })),
    ...(list.length > maxParts ? { truncated: true } : {}),
  }
}

const schema = (properties: object, required: readonly string[]): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const noArguments = schema({}, [])

const featureTools: readonly FeatureTool[] = [
  {
    name: 'list_resources',
    description: 'Lists the resources and resource templates of the server.',
    inputSchema: noArguments,
    feature: 'resources',
    isReadOnly: true,
    run: listResources,
  },
  {
    name: 'read_resource',
    description: 'Reads a resource of the server by its URI. Binary content is left out.',
    inputSchema: schema({ uri: { type: 'string', minLength: 1, maxLength: maxUriLength } }, ['uri']),
    feature: 'resources',
    isReadOnly: false,
    run: readResource,
  },
  {
    name: 'list_prompts',
    description: 'Lists the prompts of the server and their arguments.',
    inputSchema: noArguments,
    feature: 'prompts',
    isReadOnly: true,
    run: listPrompts,
  },
  {
    name: 'get_prompt',
    description: 'Returns the messages of a prompt of the server, with its arguments filled in.',
    inputSchema: schema(
      {
        name: { type: 'string', minLength: 1, maxLength: 256 },
        arguments: {
          type: 'object',
          maxProperties: maxArguments,
          additionalProperties: { type: 'string', maxLength: 8_192 },
        },
      },
      ['name'],
    ),
    feature: 'prompts',
    isReadOnly: false,
    run: getPrompt,
  },
]

/** The tools for what the server declared when its tools were accepted. A tool of the server takes precedence by name. */
export const featureToolsOf = (
  features: ServerFeatures | undefined,
  nameOf: (name: string) => string,
  taken: ReadonlySet<string>,
): FeatureTool[] => featureTools.filter(({ feature, name }) => features?.[feature] === true && !taken.has(nameOf(name)))
