const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const integer = { type: 'integer' }

const object = (properties: Record<string, object>, optional: string[] = []): object => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})

interface ToolDetails {
  title: string
  outputSchema: object
  /** Hints that differ from those of `describeTool`. */
  annotations: object
}

/** Agents can use connectors, so asking one may change or delete things anywhere. */
const anywhere = { destructiveHint: true, idempotentHint: false, openWorldHint: true }
const inside = { openWorldHint: false }

const foundFile = object({
  id: text,
  name: text,
  kind: { enum: ['file', 'folder'] },
  mimeType: textOrNull,
  sizeBytes: integer,
  updatedAt: text,
})

/** What clients learn about the tools of this server beyond what models do. Connector tools have none of it. */
export const toolDetails: Partial<Record<string, ToolDetails>> = {
  'files.search': {
    title: 'Search files',
    outputSchema: object({ total: integer, files: { type: 'array', items: foundFile } }),
    annotations: inside,
  },
  'files.read': {
    title: 'Read a file',
    outputSchema: object({
      fileId: text,
      name: text,
      mimeType: text,
      sizeBytes: integer,
      text,
      truncated: { type: 'boolean' },
      nextOffset: { type: ['integer', 'null'] },
    }),
    annotations: inside,
  },
  'files.write': {
    title: 'Create a text file',
    outputSchema: object({ fileId: text, name: text, mimeType: text, sizeBytes: integer }),
    annotations: { destructiveHint: false, idempotentHint: false, openWorldHint: false },
  },
  'agents.list': {
    title: 'List agents',
    outputSchema: object({
      agents: { type: 'array', items: object({ slug: text, name: text, description: textOrNull }) },
    }),
    annotations: inside,
  },
  'agents.ask': {
    title: 'Ask an agent',
    outputSchema: object(
      { reply: text, sessionId: text, turnId: text, status: text, stopReason: textOrNull, note: text },
      ['note'],
    ),
    annotations: anywhere,
  },
}
