import { Type } from 'typebox'
import type { TSchema } from 'typebox'
import { Id, IdOf, Nullable, TimestampOf } from '../../platform/http/schemas.ts'

export const Upload = Type.Object(
  {
    id: Id,
    offset: Type.Integer({ description: 'Number of bytes that have arrived.', examples: [0] }),
    length: Type.Integer({ description: 'Size of the upload in bytes.', examples: [7_340_032] }),
    expiresAt: TimestampOf('Time after which an upload that is not complete is deleted.', '2026-11-21T08:15:30.125Z'),
    fileId: Nullable(IdOf('ID of the file. Null until all bytes have arrived, and for partial uploads.')),
  },
  { description: 'An upload that can be continued.' },
)

const header = (description: string, example: string): TSchema =>
  Type.Optional(Type.String({ description, examples: [example] }))

const tusResumable = { 'Tus-Resumable': header('Version of the protocol, `1.0.0`. Default `1.0.0`.', '1.0.0') }

const chunkHeaders = {
  'Upload-Checksum': header(
    'Algorithm (`sha1` or `sha256`) and Base64 digest of the body. Default: none.',
    'sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=',
  ),
}

export const CreationHeaders = Type.Object({
  ...tusResumable,
  'Upload-Length': header('Size of the upload in bytes. Required, except for a final upload.', '7340032'),
  'Upload-Metadata': header(
    'Pairs of a key and a Base64 value, separated by commas, at most 8,192 characters: `name` (or `filename`, required), `type` (or `mimeType`, `filetype`; default: by the extension of the name), `parentId`, `projectId` and `source` (`upload`). Other keys are stored and have no effect. Not needed for a partial upload.',
    'name cmVwb3J0LnR4dA==,type dGV4dC9wbGFpbg==',
  ),
  'Upload-Concat': header(
    '`partial` for a part of an upload, or `final;` and the URLs of 1–100 complete partial uploads in their order, separated by spaces. Default: neither.',
    'partial',
  ),
  ...chunkHeaders,
})

export const ChunkHeaders = Type.Object({
  ...tusResumable,
  'Upload-Offset': header('Number of bytes that have arrived. Required.', '0'),
  ...chunkHeaders,
})

export const OverrideHeaders = Type.Object({
  ...ChunkHeaders.properties,
  'X-HTTP-Method-Override': header('`PATCH` or `DELETE`. Required.', 'PATCH'),
})

export const VersionHeaders = Type.Object(tusResumable)

const responseHeaders = {
  'Tus-Resumable': { type: 'string', description: 'Version of the protocol.' },
  'Tus-Version': { type: 'string', description: 'Versions of the protocol.' },
  'Tus-Extension': { type: 'string', description: 'Extensions of the protocol, separated by commas.' },
  'Atrium-Direct-Uploads': {
    type: 'string',
    description: '`true` when the bytes of new files can be sent to the object store directly. Otherwise absent.',
  },
  'Tus-Max-Size': { type: 'integer', description: 'Maximum size of an upload in bytes (`UPLOAD_MAX_BYTES`).' },
  'Tus-Checksum-Algorithm': { type: 'string', description: 'Algorithms of `Upload-Checksum`.' },
  Location: { type: 'string', description: 'URL of the upload.' },
  'Upload-Offset': { type: 'integer', description: 'Number of bytes that have arrived.' },
  'Upload-Length': { type: 'integer', description: 'Size of the upload in bytes.' },
  'Upload-Metadata': { type: 'string', description: 'The metadata as they were sent.' },
  'Upload-Concat': {
    type: 'string',
    description: '`partial` for a part of an upload, `final` for one made of others.',
  },
  'Upload-Expires': { type: 'string', description: 'Time after which an open upload is deleted, as an HTTP date.' },
  'Atrium-File-Id': { type: 'string', description: 'ID of the file of a complete upload.' },
}
type HeaderName = keyof typeof responseHeaders

/** A response with headers of the protocol, for the API reference only. */
export const withHeaders = (schema: TSchema, ...names: HeaderName[]) => ({
  ...schema,
  headers: Object.fromEntries((['Tus-Resumable', ...names] as const).map((name) => [name, responseHeaders[name]])),
})
