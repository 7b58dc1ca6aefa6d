import { Type } from 'typebox'
import type { Static } from 'typebox'

// Names and shapes are those of OpenAI's API: https://platform.openai.com/docs/api-reference/files

export const OpenAiFile = Type.Object(
  {
    id: Type.String({ description: 'ID of the file.', examples: ['01a1fc7d-3b9c-7358-af36-f0a31b6ad3e1'] }),
    object: Type.Literal('file', { description: 'Type of the object.' }),
    bytes: Type.Integer({ description: 'Size in bytes.', examples: [42] }),
    created_at: Type.Integer({ description: 'Time of creation, in Unix seconds.', examples: [1_795_304_742] }),
    filename: Type.String({ description: 'Name of the file.', examples: ['report.pdf'] }),
    purpose: Type.Literal('user_data', { description: 'Always `user_data`: the purpose is not stored.' }),
    status: Type.Literal('processed', { description: 'Always `processed`.' }),
  },
  { description: "A file in the shape of OpenAI's files." },
)
export type OpenAiFile = Static<typeof OpenAiFile>

export const OpenAiFileList = Type.Object(
  {
    object: Type.Literal('list', { description: 'Type of the object.' }),
    data: Type.Array(OpenAiFile, { description: 'Files of the org.' }),
    first_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'ID of the first file of the page. Null when it is empty.',
      examples: ['01a1fc7d-3b9c-7358-af36-f0a31b6ad3e1'],
    }),
    last_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'ID of the last file of the page. Null when it is empty.',
      examples: ['01a1fc7d-3b9c-7358-af36-f0a31b6ad3e1'],
    }),
    has_more: Type.Boolean({ description: 'Whether more files follow.', examples: [false] }),
  },
  { description: "A page of files in the shape of OpenAI's lists." },
)

export const OpenAiFileQuery = Type.Object({
  after: Type.Optional(
    Type.String({ format: 'uuid', description: 'ID of the last file of the page before. Default: the first page.' }),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 100,
    description: 'Maximum number of files, 1–10,000; a page has at most 1,000. Default 100.',
  }),
  order: Type.Enum(['asc', 'desc'], {
    default: 'desc',
    description: 'Order by creation: oldest (`asc`) or newest (`desc`) first. Default `desc`.',
  }),
  purpose: Type.Optional(
    Type.String({ maxLength: 64, description: 'Ignored, at most 64 characters: every file is `user_data`.' }),
  ),
})

// No `type`: the form is a stream, so validation sees null here and the parts are checked as they arrive.
export const OpenAiFileUpload = Type.Unsafe<unknown>({
  properties: {
    file: { type: 'string', format: 'binary', description: 'The bytes, at most 100 MB, with their media type.' },
    purpose: { type: 'string', description: '`user_data`, `assistants` or `vision`; others are rejected.' },
  },
  required: ['file', 'purpose'],
})

export const OpenAiFileDeleted = Type.Object(
  {
    id: Type.String({ description: 'ID of the file.', examples: ['01a1fc7d-3b9c-7358-af36-f0a31b6ad3e1'] }),
    object: Type.Literal('file', { description: 'Type of the object.' }),
    deleted: Type.Literal(true, { description: 'Always true.' }),
  },
  { description: 'The file is deleted.' },
)
