import multipart from '@fastify/multipart'
import {
  checkFormLength,
  deleteFile,
  downloadHeaders,
  dispositionOf,
  findFile,
  getContent,
  listNewestFiles,
  repeatForm,
  sendContent,
  uploadForm,
} from '../../files/files.ts'
import type { FileRow } from '../../files/files.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { sendReplay } from '../../platform/http/idempotency/idempotency.ts'
import { Bytes, Empty, IdParams } from '../../platform/http/schemas.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { failures, invalid, openAiPrefix, unsupported } from './errors.ts'
import { OpenAiFile, OpenAiFileDeleted, OpenAiFileList, OpenAiFileQuery, OpenAiFileUpload } from './file-schemas.ts'

const tags = ['OpenAI']
const path = `${openAiPrefix}/files`

const toOpenAiFile = ({ id, size, createdAt, name }: FileRow): OpenAiFile => ({
  id,
  object: 'file',
  bytes: size,
  created_at: Math.floor(Date.parse(createdAt) / 1_000),
  filename: name,
  purpose: 'user_data',
  status: 'processed',
})

/** Not folders, links and pending files, which OpenAI's API does not have. */
const getStoredFile = async (db: Db, actor: Actor, id: string): Promise<FileRow> => {
  const file = await findFile(db, actor, id)
  if (file?.source !== 'upload' || file.status !== 'ready') throw notFound('File')
  return file
}

/** The purposes for which files are used here. Batches and fine-tuning do not exist. */
const purposes = new Set(['user_data', 'assistants', 'vision'])

const checkPurpose = (others: ReadonlyMap<string, string>): void => {
  const purpose = others.get('purpose')
  if (purpose === undefined) throw invalid('purpose', 'purpose is required')
  if (!purposes.has(purpose)) throw unsupported('purpose', 'purpose must be user_data, assistants or vision')
}

const mostInPage = 1_000

/** OpenAI's files: the files of the org, without its folders. */
export const registerOpenAiFileRoutes = (app: App, deps: SessionDeps): void => {
  const { db, objects } = deps

  app.register(async (scope: App) => {
    await scope.register(multipart, { throwFileSizeLimit: false })
    scope.post(
      path,
      {
        config: {
          access: 'files:write',
          upload: 'form',
          rateLimit: 'uploads',
          idempotency: { streamed: true },
          events: ['file.created'],
        },
        schema: {
          tags,
          summary: 'Upload a file by the file API of a client',
          description:
            'Stores a file in the root of the org from `multipart/form-data`. Its ID can be used as `file_id` of a message. A file has at most 100 MB and one of the media types that can be stored; without a type, that of its extension. Counts against the rate limit `uploads`.',
          body: { content: { 'multipart/form-data': { schema: OpenAiFileUpload } } },
          response: { 200: OpenAiFile, ...failures },
        },
        preValidation: async (request) => {
          if (!request.isMultipart()) throw badRequest('The Content-Type must be multipart/form-data.')
        },
      },
      async (request, reply) => {
        checkFormLength(request)
        if (request.replay) {
          await repeatForm(request, { guessesType: true })
          return sendReplay(reply, request.replay)
        }
        return toOpenAiFile(await uploadForm(deps, request, { check: checkPurpose, guessesType: true }))
      },
    )
  })

  app.get(
    path,
    {
      config: { access: 'files:read' },
      schema: {
        tags,
        summary: 'List files by the file API of a client',
        description: "Returns all files of the org, of every folder, in the shape of OpenAI's list of files.",
        querystring: OpenAiFileQuery,
        response: { 200: OpenAiFileList, ...failures },
      },
    },
    async ({ actor, query: { after, limit, order } }) => {
      const size = Math.min(limit, mostInPage)
      const rows = await listNewestFiles(db.replica, actor, { after, limit: size + 1, isOldestFirst: order === 'asc' })
      const data = rows.slice(0, size).map(toOpenAiFile)
      return {
        object: 'list' as const,
        data,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
        has_more: rows.length > size,
      }
    },
  )

  app.get(
    `${path}/:id`,
    {
      config: { access: 'files:read', what: 'File' },
      schema: {
        tags,
        summary: 'Retrieve a file by the file API of a client',
        description: "Returns one file in the shape of OpenAI's files. NOT_FOUND for a folder or link.",
        params: IdParams,
        response: { 200: OpenAiFile, ...failures },
      },
    },
    async ({ actor, params }) => toOpenAiFile(await getStoredFile(db.hot, actor, params.id)),
  )

  app.get(
    `${path}/:id/content`,
    {
      config: { access: 'files:read', what: 'File' },
      schema: {
        tags,
        summary: 'Retrieve the content of a file',
        description: 'Returns the bytes of a file as an attachment. Supports `Range` and `If-None-Match`.',
        params: IdParams,
        response: {
          200: Bytes('The bytes of the file.'),
          206: Bytes('The requested range of bytes.'),
          416: Empty('The requested range is outside of the file.'),
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { actor, params } = request
      await getStoredFile(db.hot, actor, params.id)
      const content = await getContent(db.hot, actor, params.id)
      const headers = downloadHeaders(content.mimeType, dispositionOf('attachment', content.name))
      return sendContent(request, reply, { objects, content, headers })
    },
  )

  app.delete(
    `${path}/:id`,
    {
      config: { access: 'files:write', what: 'File', events: ['file.deleted'] },
      schema: {
        tags,
        summary: 'Delete a file by the file API of a client',
        description: 'Deletes a file into the trash. NOT_FOUND for a folder or link.',
        params: IdParams,
        response: { 200: OpenAiFileDeleted, ...failures },
      },
    },
    async ({ actor, params: { id }, headers, db: requestDb }) => {
      await getStoredFile(db.hot, actor, id)
      await deleteFile({ ...deps, db: requestDb }, actor, id, { ifMatch: headers['if-match'] })
      return { id, object: 'file' as const, deleted: true as const }
    },
  )
}
