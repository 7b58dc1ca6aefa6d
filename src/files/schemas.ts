import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Id, ListQuery, Nullable, Patch, Timestamp } from '../platform/http/schemas.ts'
import { maxNameLength } from './tree/names.ts'
import { maxFileBytes } from './uploads/uploads.ts'

const Name = Type.String({ minLength: 1, maxLength: maxNameLength, description: 'Any text without NUL, CR or LF' })

export const File = Type.Object({
  id: Id,
  name: Type.String(),
  mimeType: Nullable(Type.String()),
  size: Type.Integer({ description: 'Bytes' }),
  parentId: Nullable(Id),
  projectId: Nullable(Id),
  source: Type.Union([Type.Literal('upload'), Type.Literal('folder'), Type.Literal('link')]),
  targetFileId: Nullable(Id),
  tags: Type.Array(Type.String()),
  isProtected: Type.Boolean(),
  status: Type.Union([Type.Literal('pending'), Type.Literal('ready')]),
  storageKey: Nullable(Type.String({ description: 'Shared by files with the same bytes; null until they are here' })),
  storageUrl: Nullable(Type.String({ description: 'Where an API key downloads it; null for a folder' })),
  contentHash: Nullable(Type.String({ description: 'SHA-256 of the bytes, in hex' })),
  createdBy: Id,
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

export const FileCreate = Type.Object({
  source: Type.Optional(Type.Union([Type.Literal('upload'), Type.Literal('folder'), Type.Literal('link')])),
  name: Type.Optional(Name),
  mimeType: Type.Optional(Type.String({ maxLength: 255 })),
  size: Type.Optional(Type.Integer({ minimum: 0, maximum: maxFileBytes })),
  parentId: Type.Optional(Nullable(Id)),
  projectId: Type.Optional(Nullable(Id)),
  targetFileId: Type.Optional(Id),
})
export type FileCreate = Static<typeof FileCreate>

export const FileCreated = Type.Object({
  file: File,
  uploadUrl: Type.Optional(Type.String({ description: 'Takes the bytes by PUT, once, within an hour' })),
})

// No `type`: the form is a stream, so validation sees null here and the parts are checked as they come.
export const FileUpload = Type.Unsafe<unknown>({
  properties: { file: { type: 'string', format: 'binary' }, parentId: Id, projectId: Id },
  required: ['file'],
})

export const FilePatch = Type.Object({
  name: Type.Optional(Name),
  parentId: Type.Optional(Nullable(Id)),
  tags: Type.Optional(Type.Array(Type.String())),
})
export type FilePatch = Static<typeof FilePatch>

export const FileListQuery = Type.Object({
  ...ListQuery.properties,
  // It carries the last name of the page, which may have 255 characters of four bytes.
  cursor: Type.Optional(Type.String({ maxLength: 4_096, description: 'nextCursor of the page before' })),
  search: Type.Optional(Type.String({ maxLength: maxNameLength, description: 'Any part of the name, in any case' })),
  recursive: Type.Boolean({ default: false, description: 'With search: everything below the folder, too' }),
  parentId: Type.Optional(Id),
  projectId: Type.Optional(Id),
})
export type FileListQuery = Static<typeof FileListQuery>

export const FileQuery = Type.Object({
  download: Type.Boolean({ default: false, description: 'Redirect to a signed URL of the bytes' }),
  inline: Type.Boolean({ default: false, description: 'With download: answer the bytes themselves, for display' }),
})

export const Preview = Type.Object({
  fileId: Id,
  name: Type.String(),
  mimeType: Type.String(),
  kind: Type.Union([Type.Literal('text'), Type.Literal('document'), Type.Literal('spreadsheet')]),
  truncated: Type.Boolean({ description: 'There is more in the file than in here' }),
  text: Type.Optional(Type.String({ description: 'Up to 512 KB' })),
  html: Type.Optional(Type.String({ description: 'Of a document: safe to show' })),
  sheets: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        rows: Type.Array(Type.Array(Type.String())),
        rowCount: Type.Integer(),
        columnCount: Type.Integer(),
        truncated: Type.Boolean(),
      }),
    ),
  ),
})

export const Project = Type.Object({
  id: Id,
  name: Type.String(),
  slug: Type.String(),
  description: Nullable(Type.String()),
  instructions: Nullable(Type.String()),
  folderId: Id,
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

export const ProjectCreate = Type.Object({
  name: Name,
  description: Type.Optional(Nullable(Type.String({ maxLength: 5_000 }))),
  instructions: Type.Optional(Nullable(Type.String({ maxLength: 20_000 }))),
})
export type ProjectCreate = Static<typeof ProjectCreate>

export const ProjectPatch = Patch(ProjectCreate)
export type ProjectPatch = Static<typeof ProjectPatch>
