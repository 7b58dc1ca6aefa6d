import type { Readable } from 'node:stream'
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { onceClosed } from '../../platform/http/closed.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { rejectTags } from '../../platform/http/etag.ts'
import { originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Empty, IdParams, Success, ok } from '../../platform/http/schemas.ts'
import type { FilesDeps } from '../deps.ts'
import { directOf } from '../direct/direct.ts'
import { bareTypeOf } from '../uploads/mime-types.ts'
import { lengthOf as bodyLengthOf } from '../uploads/upload-form.ts'
import { createUploadLeases } from './leases.ts'
import type { UploadLeases } from './leases.ts'
import {
  algorithms,
  checkVersion,
  checksumOf,
  chunkType,
  concatOf,
  extensions,
  lengthOf,
  metadataOf,
  offsetOf,
  tusErrors,
  uploadsPath,
  version,
  wrongType,
} from './protocol.ts'
import {
  appendToUpload,
  concatenateUploads,
  continueUpload,
  createUpload,
  getUpload,
  terminateUpload,
} from './resumable.ts'
import type { Chunk, UploadState } from './resumable.ts'
import { ChunkHeaders, CreationHeaders, OverrideHeaders, Upload, VersionHeaders, withHeaders } from './schemas.ts'

const tags = ['Files']

const hasBody = ({ raw: { headers } }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const requireChunkType = (request: FastifyRequest): void => {
  if (bareTypeOf(request.headers['content-type'] ?? '') !== chunkType) throw wrongType()
}

/** The bytes of a request. Its connection stays open for the response when not all of them are read. */
const chunkOf = (request: FastifyRequest, offset: number): Chunk => ({
  offset,
  body: (request.raw as Readable).iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>,
  length: bodyLengthOf(request),
  checksum: checksumOf(request.raw.headers),
})

const closedOf = (reply: FastifyReply): AbortSignal => {
  const closed = new AbortController()
  onceClosed(reply.raw, () => closed.abort())
  return closed.signal
}

const setState = (reply: FastifyReply, { upload, fileId }: UploadState): void => {
  reply.headers({ 'tus-resumable': version, 'upload-offset': String(upload.receivedBytes) })
  if (upload.state === 'open') reply.header('upload-expires', new Date(upload.expiresAt).toUTCString())
  if (fileId !== null) reply.header('atrium-file-id', fileId)
}

interface Context {
  deps: FilesDeps
  leases: UploadLeases
  stopping: AbortSignal
}

/** Creates an upload, with its first bytes when the request has a body. */
const create = async ({ deps, leases, stopping }: Context, request: FastifyRequest, reply: FastifyReply) => {
  const { actor } = request
  const { headers } = request.raw
  checkVersion(headers)
  if (hasBody(request)) requireChunkType(request)
  const metadata = metadataOf(headers)
  const concat = concatOf(headers)
  const closed = closedOf(reply)
  if (Array.isArray(concat)) {
    const { upload, row } = await concatenateUploads(deps, leases, actor, { ids: concat, metadata, closed })
    return { upload, fileId: row.id }
  }
  const sizeBytes = lengthOf(headers)
  const chunk = chunkOf(request, 0)
  const upload = await createUpload(deps, actor, { kind: concat ?? 'whole', sizeBytes, metadata })
  if (!hasBody(request) && (sizeBytes > 0 || upload.kind === 'partial')) return { upload, fileId: null }
  return leases.hold(actor.orgId, upload.id, closed, async (held) => {
    try {
      return await appendToUpload(deps, actor, held, { ...chunk, stopping })
    } catch (error) {
      // The client does not know its URL. Without this it would count towards the quotas until it expires.
      await terminateUpload(deps, held).catch(() => undefined)
      throw error
    }
  })
}

/** Receives bytes of an upload. */
const receive = async (
  { deps, leases, stopping }: Context,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  const { actor, params } = request
  const { headers } = request.raw
  const { id } = await getUpload(deps.db, actor, params.id)
  checkVersion(headers)
  requireChunkType(request)
  const chunk = { ...chunkOf(request, offsetOf(headers)), stopping }
  const state = await leases.hold(actor.orgId, id, closedOf(reply), (held) => appendToUpload(deps, actor, held, chunk))
  setState(reply, state)
  return reply.code(204).send()
}

const terminate = async (
  { deps, leases }: Context,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  const { actor, params } = request
  const { id } = await getUpload(deps.db, actor, params.id)
  checkVersion(request.raw.headers)
  await leases.hold(actor.orgId, id, closedOf(reply), (held) => terminateUpload(deps, held))
  return reply.code(204).header('tus-resumable', version).send()
}

const statuses = {
  410: Empty('The upload has expired.'),
  412: Empty('The server does not support this version of the protocol.'),
  423: Empty('Another request is using the upload. Try again shortly.'),
}
const chunkStatuses = {
  ...statuses,
  413: Empty('The body or the upload is too large.'),
  415: Empty(`The Content-Type is not \`${chunkType}\`.`),
  460: Empty('The body does not have the checksum of `Upload-Checksum`. Nothing of it was stored.'),
}

const aboutChunks =
  'The body has the type `application/offset+octet-stream`. When the connection breaks, the server keeps what has arrived, unless the body has an `Upload-Checksum`. The request that sends the last byte creates the file and returns its ID as `Atrium-File-Id`.'

/** Uploads that can be continued, by the tus protocol 1.0. docs/decisions/0006-object-stores.md has the reasons. */
export const registerResumableRoutes = (root: App, deps: FilesDeps): void => {
  const context: Context = { deps, leases: createUploadLeases(deps), stopping: root.stopping }
  root.errorFormats.push(tusErrors)
  root.register(async (app: App) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, payload, done) => {
      done(null, payload)
    })
    registerCreation(app, context)
    registerUpload(app, context)
  })
}

const registerCreation = (app: App, context: Context): void => {
  const { config } = context.deps
  app.options(
    uploadsPath,
    {
      config: { access: 'public', crossOrigin: true, rateLimit: 'reads' },
      schema: {
        tags,
        summary: 'Retrieve what resumable uploads support',
        description:
          'Returns the versions, extensions and limits of the tus protocol that the server supports, and whether it offers direct uploads.',
        response: {
          204: withHeaders(
            Empty('The capabilities of the server.'),
            'Tus-Version',
            'Tus-Extension',
            'Tus-Max-Size',
            'Tus-Checksum-Algorithm',
            'Atrium-Direct-Uploads',
          ),
        },
      },
    },
    (_request, reply) =>
      reply
        .code(204)
        .headers({
          'tus-resumable': version,
          'tus-version': version,
          'tus-extension': extensions,
          'tus-max-size': String(config.uploadMaxBytes),
          ...(directOf(context.deps) ? { 'atrium-direct-uploads': 'true' } : {}),
          'tus-checksum-algorithm': algorithms.join(','),
        })
        .send(),
  )

  app.post(
    uploadsPath,
    {
      config: {
        access: 'files:write',
        upload: 'bytes',
        rateLimit: 'uploads',
        idempotency: false,
        events: ['file.created'],
        errors: ['NOT_FOUND', 'PAYMENT_REQUIRED', 'CONFLICT'],
      },
      schema: {
        tags,
        summary: 'Create a resumable upload',
        description: `Creates an upload by the tus protocol 1.0, for files that are large or sent over unreliable connections, up to \`UPLOAD_MAX_BYTES\`. Its size counts towards the quotas at once. It is deleted 24 hours after its last bytes, and at most 7 days after its beginning. A body is stored as the first bytes of the upload. With \`Upload-Concat: final\`, creates a file of partial uploads, which are deleted. NOT_FOUND for a project or partial upload that does not exist, PAYMENT_REQUIRED or FORBIDDEN when a quota of the org is used up, CONFLICT for more than 1,000 open uploads of the org or 500 of the person, or a partial upload that is not complete. Counts against the rate limit \`uploads\`. ${aboutChunks}`,
        headers: CreationHeaders,
        response: {
          201: withHeaders(Success(Upload), 'Location', 'Upload-Offset', 'Upload-Expires', 'Atrium-File-Id'),
          ...chunkStatuses,
        },
      },
    },
    async (request, reply) => {
      const state = await create(context, request, reply)
      const { id, receivedBytes, sizeBytes, expiresAt } = state.upload
      setState(reply, state)
      reply.code(201).header('location', `${originOf(request, config.baseUrl)}${uploadsPath}/${id}`)
      return ok({ id, offset: receivedBytes, length: sizeBytes, expiresAt, fileId: state.fileId })
    },
  )
}

const registerUpload = (app: App, context: Context): void => {
  const { deps, leases } = context
  const url = `${uploadsPath}/:id`
  const receiving: FastifyContextConfig & { access: 'files:write' } = {
    access: 'files:write',
    what: 'Upload',
    upload: 'bytes',
    events: ['file.created'],
    errors: ['CONFLICT'],
  }

  app.route({
    method: 'HEAD',
    url,
    config: { access: 'files:write', what: 'Upload', events: ['file.created'], errors: ['CONFLICT'] },
    schema: {
      tags,
      summary: 'Retrieve the offset of an upload',
      description:
        'Returns how many bytes have arrived, in `Upload-Offset`. A request that is receiving bytes of the upload ends first: its connection is probably dead. Only the person who began an upload can use it; it is NOT_FOUND for others.',
      params: IdParams,
      headers: VersionHeaders,
      response: {
        200: withHeaders(
          Empty('The state of the upload.'),
          'Upload-Offset',
          'Upload-Length',
          'Upload-Metadata',
          'Upload-Concat',
          'Upload-Expires',
          'Atrium-File-Id',
        ),
        ...statuses,
      },
    },
    handler: async (request, reply) => {
      const { actor, params } = request
      const known = await getUpload(deps.db, actor, params.id)
      checkVersion(request.raw.headers)
      const state =
        known.state === 'complete'
          ? { upload: known, fileId: known.fileId }
          : await leases.hold(actor.orgId, known.id, closedOf(reply), (held) => continueUpload(deps, actor, held))
      const { upload } = state
      setState(reply, state)
      reply.header('upload-length', String(upload.sizeBytes))
      if (upload.metadata !== null) reply.header('upload-metadata', upload.metadata)
      if (upload.kind !== 'whole') reply.header('upload-concat', upload.kind)
      return reply.code(200).send()
    },
  })

  app.patch(
    url,
    {
      config: receiving,
      preHandler: rejectTags,
      schema: {
        tags,
        summary: 'Upload bytes',
        description: `Appends the body to an upload. CONFLICT when \`Upload-Offset\` is not the number of bytes that have arrived. BAD_REQUEST, and the end of the upload, when the bytes do not have the declared type or the folder is deleted. ${aboutChunks}`,
        params: IdParams,
        headers: ChunkHeaders,
        response: {
          204: withHeaders(Empty('The bytes are stored.'), 'Upload-Offset', 'Upload-Expires', 'Atrium-File-Id'),
          ...chunkStatuses,
        },
      },
    },
    (request, reply) => receive(context, request, reply),
  )

  app.delete(
    url,
    {
      config: { access: 'files:write', what: 'Upload' },
      preHandler: rejectTags,
      schema: {
        tags,
        summary: 'Delete an upload',
        description: 'Deletes an upload with the bytes that have arrived. The file of a complete upload stays.',
        params: IdParams,
        headers: VersionHeaders,
        response: { 204: withHeaders(Empty('The upload is deleted.')), ...statuses },
      },
    },
    (request, reply) => terminate(context, request, reply),
  )

  app.post(
    url,
    {
      config: { ...receiving, idempotency: false, rateLimit: 'writes' },
      schema: {
        tags,
        summary: 'Upload bytes or delete an upload by POST',
        description:
          'Runs the method of `X-HTTP-Method-Override`, for clients that can send neither PATCH nor DELETE: see these operations.',
        params: IdParams,
        headers: OverrideHeaders,
        response: {
          204: withHeaders(Empty('As for the method.'), 'Upload-Offset', 'Upload-Expires', 'Atrium-File-Id'),
          ...chunkStatuses,
        },
      },
    },
    async (request, reply) => {
      const method = request.raw.headers['x-http-method-override']
      if (method === 'PATCH') return receive(context, request, reply)
      if (method === 'DELETE') return terminate(context, request, reply)
      await getUpload(deps.db, request.actor, request.params.id)
      throw badRequest('X-HTTP-Method-Override must be PATCH or DELETE')
    },
  )
}
