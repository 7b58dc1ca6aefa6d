import type { Readable } from 'node:stream'
import { findAgent } from '../../agents/agents.ts'
import { findFile, getContent, listFiles } from '../../files/files.ts'
import type { FileRow } from '../../files/files.ts'
import { may } from '../../identity/actor.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { cursorOf } from './params.ts'
import { RpcError } from './rpc.ts'
import type { Era } from './versions.ts'

const filePrefix = 'atrium://files/'
const agentPrefix = 'atrium://agents/'

export const fileTemplate = `${filePrefix}{id}`
export const agentTemplate = `${agentPrefix}{slug}`

/** Bounds the memory of a read: the bytes, their base64 and the JSON exist at the same time. */
const maxResourceBytes = 1_048_576
const perPage = 100
/** A slug has at most 255 characters. */
const maxUriLength = 512

export const fileUri = (id: string): string => `${filePrefix}${id}`

/** The id in the URI of a file or folder; undefined for any other URI. */
export const fileIdOf = (uri: string): string | undefined => {
  const id = uri.startsWith(filePrefix) ? uri.slice(filePrefix.length) : ''
  return isUuid(id) ? id : undefined
}

export const agentUri = (slug: string): string => `${agentPrefix}${slug}`

/** The slug in the URI of an agent; undefined for any other URI. */
export const agentSlugOf = (uri: string): string | undefined => {
  const slug = uri.startsWith(agentPrefix) ? uri.slice(agentPrefix.length) : ''
  return /^[a-z\d-]{1,255}$/.test(slug) ? slug : undefined
}

const listingType = 'application/json'

const describeFile = (file: FileRow): object => ({
  uri: fileUri(file.id),
  name: file.name,
  mimeType: file.source === 'folder' ? listingType : (file.mimeType ?? undefined),
  ...(file.source === 'upload' ? { size: file.size } : {}),
  annotations: { lastModified: file.updatedAt },
})

/** One page of a folder; without a folder, of the root of the org. */
const listFolder = async (db: Db, actor: Actor, { parentId, cursor }: { parentId?: string; cursor?: string }) => {
  const place = { ...(parentId === undefined ? {} : { parentId }), ...(cursor === undefined ? {} : { cursor }) }
  const { items, nextCursor } = await listFiles(db, actor, { ...place, recursive: false, limit: perPage, page: 1 })
  return {
    resources: items.filter(({ status }) => status === 'ready').map(describeFile),
    ...(nextCursor === null ? {} : { nextCursor }),
  }
}

/** The files and folders at the root of the org. The contents of a folder are read from its resource. */
export const listResources = async (db: Db, actor: Actor, params: Record<string, unknown>): Promise<object> => {
  const cursor = cursorOf(params)
  if (!may(actor, 'files:read')) return { resources: [] }
  try {
    return await listFolder(db, actor, cursor === undefined ? {} : { cursor })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'BAD_REQUEST') throw new RpcError('invalidParams', error.message)
    throw error
  }
}

export const listTemplates = (actor: Actor, params: Record<string, unknown>): object => {
  if (cursorOf(params) !== undefined) {
    throw new RpcError('invalidParams', 'params.cursor is not a cursor of this list.')
  }
  const files = {
    uriTemplate: fileTemplate,
    name: 'file',
    title: 'File or folder',
    description: 'The content of a file, up to 1 MB, or the first 100 entries of a folder as JSON.',
  }
  const agents = {
    uriTemplate: agentTemplate,
    name: 'agent',
    title: 'Agent',
    description: 'The name and description of an agent as JSON.',
    mimeType: listingType,
  }
  return {
    resourceTemplates: [...(may(actor, 'files:read') ? [files] : []), ...(may(actor, 'agents:read') ? [agents] : [])],
  }
}

const isText = (mimeType: string): boolean =>
  /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|x-ndjson|sql|toml)$|\+(?:json|xml)$/.test(mimeType)

/** The bytes as UTF-8 text; undefined when they are not. */
const textOf = (bytes: Buffer): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const readAll = async (stream: Readable): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const readFile = async ({ db, objects }: SessionDeps, actor: Actor, uri: string, id: string) => {
  const file = await findFile(db, actor, id)
  if (!file) return undefined
  if (file.source === 'folder') {
    const text = JSON.stringify(await listFolder(db, actor, { parentId: id }))
    return { uri, mimeType: listingType, text }
  }
  const { mimeType, sizeBytes, storageKey } = await getContent(db, actor, id)
  if (sizeBytes > maxResourceBytes) {
    const message = `The file is larger than ${maxResourceBytes} bytes. GET /api/v1/files/${id}?download=true downloads it.`
    throw new RpcError('invalidParams', message, { uri, sizeBytes, maxBytes: maxResourceBytes })
  }
  const bytes = await readAll(await objects.get(storageKey))
  const text = isText(mimeType) ? textOf(bytes) : undefined
  return text === undefined ? { uri, mimeType, blob: bytes.toString('base64') } : { uri, mimeType, text }
}

const readAgent = async (db: Db, actor: Actor, uri: string, slug: string) => {
  const agent = await findAgent(db, actor, slug)
  if (!agent?.isActive) return undefined
  const { name, description } = agent
  return { uri, mimeType: listingType, text: JSON.stringify({ slug: agent.slug, name, description }) }
}

const find = async (deps: SessionDeps, actor: Actor, uri: string) => {
  const id = fileIdOf(uri)
  if (id !== undefined) return may(actor, 'files:read') ? readFile(deps, actor, uri, id) : undefined
  const slug = agentSlugOf(uri)
  return slug !== undefined && may(actor, 'agents:read') ? readAgent(deps.db, actor, uri, slug) : undefined
}

/** Reads a resource. A URI of another org, one without permission and an unknown one have the same error. */
export const readResource = async (
  deps: SessionDeps,
  actor: Actor,
  era: Era,
  { uri }: Record<string, unknown>,
): Promise<object> => {
  if (typeof uri !== 'string' || uri.length > maxUriLength) {
    throw new RpcError('invalidParams', `params.uri must be a string of at most ${maxUriLength} characters.`)
  }
  const notFound = () =>
    new RpcError(era === 'modern' ? 'invalidParams' : 'resourceNotFound', 'Resource not found.', { uri })
  try {
    const contents = await find(deps, actor, uri)
    if (!contents) throw notFound()
    return { contents: [contents] }
  } catch (error) {
    if (!(error instanceof ApiError) || error instanceof RpcError || error.status >= 500) throw error
    // The target of a link can be deleted, and a pending file has no content.
    throw error.code === 'NOT_FOUND' ? notFound() : new RpcError('invalidParams', error.message, { uri })
  }
}
