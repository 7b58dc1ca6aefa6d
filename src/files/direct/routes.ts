import { onceClosed } from '../../platform/http/closed.ts'
import { rejectTags } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Deleted, IdParams, Success, ok } from '../../platform/http/schemas.ts'
import type { FilesDeps } from '../deps.ts'
import { abortDirect, awaitDirect, completeDirect, readDirect, signParts } from './direct.ts'
import { DirectParts, DirectPartsRequest, DirectUpload, DirectUploadQuery } from './schemas.ts'

const only =
  'Only for files that were created with an `upload`, on a server with `S3_DIRECT_UPLOADS=1`, and only for the person who created them: NOT_FOUND for others.'
const tags = ['Files']

export const registerDirectRoutes = (app: App, deps: FilesDeps): void => {
  const url = `${apiPrefix}/files/:id/upload`

  app.get(
    url,
    {
      config: { access: 'files:read', what: 'Upload', errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'] },
      schema: {
        tags,
        summary: 'Retrieve a direct upload',
        description: `Returns the state of an upload to the object store, and while it is open the parts that have arrived. With \`waitSeconds\` it responds when the verification has ended. ${only} CONFLICT when the store has deleted the upload.`,
        params: IdParams,
        querystring: DirectUploadQuery,
        response: { 200: Success(DirectUpload) },
      },
    },
    async (request, reply) => {
      const { actor, params, query } = request
      if (query.waitSeconds === 0) return ok(await readDirect(deps, actor, params.id))
      const gone = new AbortController()
      const unwatch = request.watchAuthority(() => void reply.raw.destroy())
      onceClosed(reply.raw, () => {
        unwatch()
        gone.abort()
      })
      const signal = AbortSignal.any([gone.signal, app.stopping])
      return ok(await awaitDirect(deps, actor, params.id, { waitSeconds: query.waitSeconds, signal }))
    },
  )

  app.post(
    `${url}/parts`,
    {
      config: {
        access: 'files:write',
        what: 'Upload',
        // The URLs are credentials.
        idempotency: false,
        errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      },
      schema: {
        tags,
        summary: 'Create URLs for parts of a direct upload',
        description: `Returns signed URLs that accept the bytes of parts by PUT, each for one hour. The upload is kept for 24 hours more. ${only} CONFLICT when the upload is not open, BAD_REQUEST for a part that it does not have.`,
        params: IdParams,
        body: DirectPartsRequest,
        response: { 200: Success(DirectParts) },
      },
    },
    async ({ actor, params, body }) => ok(await signParts(deps, actor, params.id, body.numbers)),
  )

  app.post(
    `${url}/complete`,
    {
      config: { access: 'files:write', what: 'Upload', errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'] },
      schema: {
        tags,
        summary: 'Complete a direct upload',
        description: `Has the bytes verified in the background when all parts have arrived: their size, their type by the first bytes, and their SHA-256. The upload is \`verifying\` and then \`ready\` or \`failed\`: retrieve it with \`waitSeconds\` to find out. A repeated request changes nothing. ${only} CONFLICT when parts are missing or the upload has expired.`,
        params: IdParams,
        response: { 202: Success(DirectUpload) },
      },
    },
    async (request, reply) => {
      const { actor, params } = request
      reply.code(202)
      return ok(await completeDirect(deps, request.db, actor, params.id))
    },
  )

  app.delete(
    url,
    {
      config: {
        access: 'files:write',
        what: 'Upload',
        events: ['file.deleted'],
        errors: ['CONFLICT'],
      },
      preHandler: rejectTags,
      schema: {
        tags,
        summary: 'Delete a direct upload',
        description: `Deletes an open upload with its pending file and the parts that have arrived. Needs no access to the folder. ${only} CONFLICT when its bytes are being verified or it is ready.`,
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params }) => {
      await abortDirect(deps, actor, params.id)
      return ok({ deleted: true as const })
    },
  )
}
