import { fromJson } from '../definition.ts'
import type { Connector } from '../definition.ts'

const id = (what: string) => ({ type: 'string', pattern: '^[0-9a-fA-F-]{32,36}$', description: `ID of the ${what}` })
const pageSize = { type: 'integer', minimum: 1, maximum: 100, description: 'Maximum number of results' }
const cursor = { type: 'string', description: 'next_cursor of the previous page' }
const text = { type: 'string', minLength: 1, description: 'Plain text; separate paragraphs with an empty line' }

/** Notion limits one rich text object to 2,000 characters. */
const richText = (plain: string) =>
  Array.from({ length: Math.ceil(plain.length / 2_000) }, (_, part) => ({
    type: 'text',
    text: { content: plain.slice(part * 2_000, (part + 1) * 2_000) },
  }))

const paragraphs = (plain: unknown) =>
  String(plain)
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .slice(0, 100)
    .map((paragraph) => ({ object: 'block', type: 'paragraph', paragraph: { rich_text: richText(paragraph) } }))

export const connector: Connector = {
  slug: 'notion',
  name: 'Notion',
  category: 'documents',
  description: 'Pages and databases of a Notion workspace.',
  auth: {
    type: 'oauth',
    registrationUrl: 'https://www.notion.so/profile/integrations',
    authorizeUrl: 'https://api.notion.com/v1/oauth/authorize',
    tokenUrl: 'https://api.notion.com/v1/oauth/token',
    scopes: [],
    authorizeParams: { owner: 'user' },
    clientAuth: 'basic',
    tokenBody: 'json',
    account: { from: { method: 'GET', path: '/v1/users/me' }, id: 'id', name: 'bot.workspace_name' },
    revoke: {
      method: 'POST',
      url: 'https://api.notion.com/v1/oauth/revoke',
      auth: 'client',
      json: { token: '{accessToken}' },
      headers: { 'notion-version': '2025-09-03' },
    },
  },
  api: {
    baseUrl: 'https://api.notion.com',
    headers: { 'notion-version': '2025-09-03' },
    errorMessage: ['message'],
  },
  tools: [
    {
      name: 'search',
      description: 'Searches pages and data sources by title. An empty query lists the most recently edited.',
      input: { query: { type: 'string' }, page_size: pageSize, start_cursor: cursor },
      isReadOnly: true,
      request: {
        method: 'POST',
        path: '/v1/search',
        json: { query: '{query}', page_size: '{page_size}', start_cursor: '{start_cursor}' },
      },
      output: [
        'results.object',
        'results.id',
        'results.url',
        'results.title.plain_text',
        'results.properties.title.title.plain_text',
        'results.properties.Name.title.plain_text',
        'results.last_edited_time',
        'next_cursor',
      ],
    },
    {
      name: 'get_page',
      description: 'Gets the properties of a page. Use read_page for its content.',
      input: { page_id: id('page') },
      required: ['page_id'],
      isReadOnly: true,
      request: { method: 'GET', path: '/v1/pages/{page_id}' },
      output: ['id', 'url', 'parent', 'properties', 'last_edited_time'],
    },
    {
      name: 'read_page',
      description: 'Reads the content of a page or block as a list of blocks.',
      input: { block_id: id('page or block'), page_size: pageSize, start_cursor: cursor },
      required: ['block_id'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/v1/blocks/{block_id}/children',
        query: { page_size: '{page_size}', start_cursor: '{start_cursor}' },
      },
      output: fromJson((body) => textOfBlocks(body)),
    },
    {
      name: 'query_data_source',
      description: "Queries the rows of a data source with a filter and sorts in the format of Notion's API.",
      input: {
        data_source_id: id('data source'),
        filter: { type: 'object', description: 'For example {"property": "Status", "select": {"equals": "Active"}}' },
        sorts: { type: 'array', items: { type: 'object' } },
        page_size: pageSize,
        start_cursor: cursor,
      },
      required: ['data_source_id'],
      isReadOnly: true,
      request: {
        method: 'POST',
        path: '/v1/data_sources/{data_source_id}/query',
        json: { filter: '{filter}', sorts: '{sorts}', page_size: '{page_size}', start_cursor: '{start_cursor}' },
      },
      output: ['results.id', 'results.url', 'results.properties', 'next_cursor'],
    },
    {
      name: 'create_page',
      description: 'Creates a page as a child of another page.',
      input: { parent_page_id: id('parent page'), title: { type: 'string', minLength: 1 }, text },
      required: ['parent_page_id', 'title'],
      isReadOnly: false,
      request: (input) => ({
        method: 'POST',
        segments: ['v1', 'pages'],
        json: {
          parent: { page_id: input['parent_page_id'] },
          properties: { title: { title: richText(String(input['title'])) } },
          ...(input['text'] === undefined ? {} : { children: paragraphs(input['text']) }),
        },
      }),
      output: ['id', 'url'],
    },
    {
      name: 'append_text',
      description: 'Appends paragraphs to a page.',
      input: { page_id: id('page'), text },
      required: ['page_id', 'text'],
      isReadOnly: false,
      request: (input) => ({
        method: 'PATCH',
        segments: ['v1', 'blocks', String(input['page_id']), 'children'],
        json: { children: paragraphs(input['text']) },
      }),
      output: ['results.id'],
    },
  ],
}

interface Block {
  id: string
  type: string
  has_children: boolean
  [type: string]: unknown
}

/** Each block with its plain text. Blocks without text, such as images, keep Notion's format. */
const textOfBlocks = (body: unknown): unknown => {
  const { results = [], next_cursor = null } = body as { results?: Block[]; next_cursor?: string | null }
  const blocks = results.map((block) => {
    const content = block[block.type] as { rich_text?: { plain_text: string }[] } | undefined
    const shown = content?.rich_text ? { text: content.rich_text.map((part) => part.plain_text).join('') } : { content }
    return { id: block.id, type: block.type, has_children: block.has_children, ...shown }
  })
  return { blocks, next_cursor }
}
