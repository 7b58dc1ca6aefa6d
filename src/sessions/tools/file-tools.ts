import {
  checkName,
  getContent,
  isOwnContent,
  listFiles,
  overwriteWith,
  pictureTypes,
  readFileText,
  storeFile,
} from '../../files/files.ts'
import { truncateToJsonBytes } from './truncate-text.ts'
import type { Tool, ToolContext } from './tools.ts'

const maxFound = 20

const search: Tool = {
  name: 'files.search',
  description:
    'Finds files by a part of their name, in the whole organisation. An empty query lists the top level. Returns at most 20 files with their ids.',
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string', maxLength: 255, description: 'A part of the name, in any case' } },
    required: ['query'],
  },
  isReadOnly: true,
  permission: 'files:read',
  run: async ({ db, actor, projectId, turn }: ToolContext, { query }: { query: string }) => {
    const scope = projectId === null || query !== '' ? {} : { projectId }
    const page = await listFiles(db, actor, {
      search: query,
      recursive: query !== '',
      limit: maxFound,
      page: 1,
      ...scope,
    })
    // File names that other people chose are untrusted content.
    if (page.items.some(({ namedBy }) => namedBy !== actor.userId)) turn?.noteUntrusted()
    return {
      total: page.total,
      files: page.items.map(({ id, name, source, mimeType, size, updatedAt }) => ({
        id,
        name,
        kind: source === 'folder' ? 'folder' : 'file',
        mimeType,
        sizeBytes: size,
        updatedAt,
      })),
    }
  },
}

// The output of a tool is at most 64 KB; this leaves room for its other fields.
const maxReadBytes = 56_000

const read: Tool = {
  name: 'files.read',
  description:
    'Reads a file as text: plain text, source code, PDF, Word, spreadsheets, presentations. A long file comes in parts: call again with nextOffset. A picture (PNG, JPEG, WebP, GIF, AVIF, HEIC) is shown to models that can see.',
  inputSchema: {
    type: 'object',
    properties: {
      fileId: { type: 'string', format: 'uuid', description: 'The id of the file' },
      offset: { type: 'integer', minimum: 0, description: 'Characters to skip at the beginning' },
    },
    required: ['fileId'],
  },
  isReadOnly: true,
  permission: 'files:read',
  run: async (
    { actor, signal, turn, ...deps }: ToolContext,
    { fileId, offset = 0 }: { fileId: string; offset?: number },
  ) => {
    const { name, mimeType, sizeBytes } = await getContent(deps.db, actor, fileId)
    if (pictureTypes.has(mimeType)) {
      if (!(await isOwnContent(deps.db, actor, fileId))) turn?.noteUntrusted()
      // The transcript has only the reference. The picture is read when a model is called.
      return { fileId, name, mimeType, sizeBytes, picture: true }
    }
    const [file, isOwn] = await Promise.all([
      readFileText(deps, actor, fileId, signal),
      isOwnContent(deps.db, actor, fileId),
    ])
    if (!isOwn) turn?.noteUntrusted()
    const rest = file.text.slice(offset)
    const text = truncateToJsonBytes(rest, maxReadBytes)
    const nextOffset = text.length < rest.length ? offset + text.length : null
    return { fileId, ...file, text, truncated: file.truncated || nextOffset !== null, nextOffset }
  },
}

const textTypes: Record<string, string> = {
  md: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  html: 'text/html',
  xml: 'application/xml',
  yaml: 'text/yaml',
  yml: 'text/yaml',
}

const write: Tool = {
  name: 'files.write',
  description:
    'Creates a text file; a file with the same name is created beside it. With fileId, replaces the content of that text file instead and keeps what it had as a version.',
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 255, description: 'With its extension, such as notes.md' },
      text: { type: 'string', description: 'The content of the file' },
      folderId: {
        type: 'string',
        format: 'uuid',
        description: 'The folder to create it in; the top level when left out',
      },
      fileId: {
        type: 'string',
        format: 'uuid',
        description: 'The file whose content to replace. It keeps its name, type and folder.',
      },
    },
    required: ['name', 'text'],
  },
  isReadOnly: false,
  permission: 'files:write',
  run: async (
    { actor, projectId, turn, ...deps }: ToolContext,
    input: { name: string; text: string; folderId?: string; fileId?: string },
  ) => {
    const isUntrusted = (turn?.untrustedFrom ?? null) !== null
    const bytes = Buffer.from(input.text)
    if (input.fileId !== undefined) {
      const { id, name, mimeType, version } = await overwriteWith(deps, actor, bytes, {
        fileId: input.fileId,
        isUntrusted,
      })
      return { fileId: id, name, mimeType, sizeBytes: bytes.length, version }
    }
    const name = checkName(input.name)
    const mimeType = textTypes[/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''] ?? 'text/plain'
    const place = input.folderId !== undefined ? { parentId: input.folderId } : projectId === null ? {} : { projectId }
    const file = await storeFile(deps, actor, bytes, {
      name,
      mimeType,
      isUntrusted,
      ...place,
    })
    return { fileId: file.id, name: file.name, mimeType, sizeBytes: bytes.length }
  },
}

/** The tools for the org's files. */
export const fileTools: Tool[] = [search, read, write]
