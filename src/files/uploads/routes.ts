import type { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { etagOf } from '../../platform/http/etag.ts'
import { apiPrefix, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { sendReplay } from '../../platform/http/idempotency/idempotency.ts'
import { IdParams, Success, ok } from '../../platform/http/schemas.ts'
import { createFile } from '../files.ts'
import { bareTypeOf, checkMimeType } from './mime-types.ts'
import type * as queries from '../queries.ts'
import { fileRecord } from '../record.ts'
import type { FilesDeps } from '../deps.ts'
import { createDirect, directOf, directRecord, signPart } from '../direct/direct.ts'
import type { Database } from '../../platform/database/database.ts'
import type { DirectUploads } from '../../platform/object-store/object-store.ts'
import { pendingOf } from './pending.ts'
import { ContentQuery, FileCreate, FileCreated, FileUpload } from '../schemas.ts'
import { requireToken, uploadUrlOf } from '../signed-urls/signed-urls.ts'
import { checkFormLength, lengthOf, repeatForm, uploadForm } from './upload-form.ts'
import { maxFileBytes } from './limits.ts'
import { alreadyFinished, findUploadOfMember, finishUpload, receive, tooLarge } from './uploads.ts'
import { getOverwritable, overwriteFile } from '../versions/versions.ts'

/** The Content-Type of a signed PUT must be the declared type, application/octet-stream, or absent. */
const checkPutType = (header: string | undefined, declared: string): void => {
  const type = header === undefined ? '' : bareTypeOf(header)
  if (type === '' || type === declared || type === 'application/octet-stream') return
  throw badRequest(`The Content-Type must be ${declared} or application/octet-stream.`)
}

const bytesOf = (request: FastifyRequest): AsyncIterable<Buffer> =>
  (request.raw as Readable).iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>

/** The type of the new bytes of a file: that of the request, or the one that the file has. */
const newTypeOf = (header: string | undefined, known: string): string => {
  const type = header === undefined ? '' : bareTypeOf(header)
  return type === '' || type === 'application/octet-stream' ? known : checkMimeType(type)
}

/** What the store offers for a new file. Nothing is sent for an empty one, so it is made as elsewhere. */
const directFor = (deps: FilesDeps, { source = 'upload', size = 0 }: FileCreate): DirectUploads | undefined =>
  source === 'upload' && size > 0 ? directOf(deps) : undefined

/** Creates a pending file whose bytes are sent to the object store. */
const beginDirect = async (
  deps: FilesDeps & { direct: DirectUploads },
  request: FastifyRequest & { db: Database },
  body: FileCreate,
) => {
  const { actor } = request
  const pending = pendingOf(body, deps.config.uploadMaxBytes)
  const { file, upload } = await createDirect(deps, request.db, actor, pending)
  const record = directRecord(upload, [])
  return {
    file: fileRecord(file, actor.orgId, originOf(request, deps.config.baseUrl)),
    ...(record.partCount === 1 ? { uploadUrl: (await signPart(deps.direct, upload, 1)).url } : {}),
    upload: record,
  }
}

/** Replaces the bytes of a file by the body of an authenticated request. */
const replaceContent = async (deps: FilesDeps, request: FastifyRequest, reply: FastifyReply, fileId: string) => {
  const { actor, headers } = request
  const ifMatch = headers['if-match']
  await request.takeRateLimit('uploads')
  const file = await getOverwritable(deps.db, actor, fileId, ifMatch)
  const mimeType = newTypeOf(headers['content-type'], file.mimeType ?? '')
  const length = lengthOf(request)
  if (length !== undefined && length > maxFileBytes) throw tooLarge()
  // Rejects what certainly exceeds the quota before reading it.
  await deps.quotas.check(actor.orgId, { storedBytes: length ?? 0 })
  const expected = { mimeType, ...(length === undefined ? {} : { sizeBytes: length }) }
  const received = await receive(deps, actor.orgId, bytesOf(request), expected)
  const row = await overwriteFile(deps, actor, received, { fileId, mimeType, ifMatch })
  reply.header('etag', etagOf(row))
  return ok({ file: fileRecord(row, actor.orgId, originOf(request, deps.config.baseUrl)) })
}

/** Routes that accept bytes. They have their own Fastify scope, because every body in it is a stream. */
export const registerUploadRoutes = (app: App, deps: FilesDeps): void => {
  const { config, db } = deps

  app.register(async (scope: App) => {
    await scope.register(multipart, { throwFileSizeLimit: false })
    scope.post(
      `${apiPrefix}/files`,
      {
        config: {
          access: 'files:write',
          upload: 'form',
          rateLimit: 'none',
          idempotency: { streamed: true },
          events: ['file.created', 'folder.created'],
          errors: ['NOT_FOUND', 'PAYMENT_REQUIRED', 'SERVICE_UNAVAILABLE'],
        },
        schema: {
          tags: ['Files'],
          summary: 'Upload a file or create a folder or link',
          description:
            'As `multipart/form-data`, stores a file in one request. As JSON, creates a folder, a link, or a pending file with an `uploadUrl` that accepts the bytes by PUT. On a server with `S3_DIRECT_UPLOADS=1`, the bytes of such a file are sent to the object store, and the response has an `upload`, which must be completed. A file has at most 100 MB (with an `upload`, `UPLOAD_MAX_BYTES`) and one of the media types that can be stored. PAYMENT_REQUIRED or FORBIDDEN when a quota of the org is used up, SERVICE_UNAVAILABLE when the store is full or not reachable. Uploads count against the rate limit `uploads`, folders and links against `writes`.',
          body: {
            content: { 'application/json': { schema: FileCreate }, 'multipart/form-data': { schema: FileUpload } },
          },
          response: { 201: Success(FileCreated) },
        },
        preValidation: async (request) => {
          const isForm = request.isMultipart()
          // Without a Content-Type there is no body, and Fastify does not validate a missing body.
          if (!isForm && request.mediaType !== 'application/json') {
            throw badRequest('The Content-Type must be application/json or multipart/form-data.')
          }
          const source = isForm ? undefined : (request.body as FileCreate | undefined)?.source
          await request.takeRateLimit(source === 'folder' || source === 'link' ? 'writes' : 'uploads')
        },
      },
      async (request, reply) => {
        const { actor } = request
        const origin = originOf(request, config.baseUrl)
        let row: queries.FileRow
        if (request.isMultipart()) {
          checkFormLength(request)
          if (request.replay) {
            await repeatForm(request)
            return sendReplay(reply, request.replay)
          }
          row = await uploadForm(deps, request)
        } else {
          const body = request.body as FileCreate
          const direct = directFor(deps, body)
          if (direct) {
            reply.code(201)
            return ok(await beginDirect({ ...deps, direct }, request, body))
          }
          row = await createFile(request.db, deps.quotas, actor, body)
        }
        reply.code(201)
        const file = fileRecord(row, actor.orgId, origin)
        return ok(
          row.status === 'pending' ? { file, uploadUrl: uploadUrlOf(deps, actor.orgId, row, origin) } : { file },
        )
      },
    )
  })

  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => {
      done(null, payload)
    })
    scope.put(
      `${apiPrefix}/files/:id/content`,
      {
        config: {
          access: 'public',
          accessWithoutToken: 'files:write',
          crossOrigin: true,
          upload: 'bytes',
          what: 'File',
          rateLimit: 'none',
          errors: [
            'UNAUTHORIZED',
            'FORBIDDEN',
            'PAYMENT_REQUIRED',
            'CONFLICT',
            'TOO_MANY_REQUESTS',
            'SERVICE_UNAVAILABLE',
          ],
          events: ['file.updated', 'file.version_created'],
        },
        schema: {
          tags: ['Files'],
          summary: 'Upload the bytes of a file',
          description:
            'With the `token` of a signed URL, stores the bytes of a pending file: the token is the only credential and is valid once, for an hour. The body must have the declared size. Its media type must be the declared one or `application/octet-stream`. CONFLICT when the bytes are stored already. Without `token`, with an API key or a session and the permission `files:write`, replaces the bytes of a file; those that it had become a version. The file gets the media type of the body, and keeps its own when that is missing or `application/octet-stream`. The same bytes again change nothing. CONFLICT for a pending file, and when `If-Match` names another version; BAD_REQUEST for a folder or link. Counts against the rate limit `uploads`.',
          params: IdParams,
          querystring: ContentQuery,
          response: { 200: Success(Type.Pick(FileCreated, ['file'])) },
        },
      },
      async (request, reply) => {
        const { id } = request.params
        if (request.query.token === undefined) return replaceContent(deps, request, reply, id)
        const claims = requireToken(deps, request.query.token, 'put', id)
        const pending = await findUploadOfMember(db, claims.orgId, id)
        if (!pending) throw notFound('File')
        if (pending.status !== 'pending') throw alreadyFinished()
        checkPutType(request.headers['content-type'], claims.contentType)
        const length = lengthOf(request)
        if (length !== undefined && length !== claims.sizeBytes) {
          throw badRequest(`The body must have exactly ${claims.sizeBytes} bytes.`)
        }
        const { contentType: mimeType, sizeBytes } = claims
        const received = await receive(deps, claims.orgId, bytesOf(request), { mimeType, sizeBytes })
        const row = await finishUpload(deps, received, id)
        return ok({ file: fileRecord(row, claims.orgId, originOf(request, config.baseUrl)) })
      },
    )
  })
}
