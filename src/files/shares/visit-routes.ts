// What visitors of a share see. No session or key is read here: the token in the path is the only credential, and a share
// with a password also needs the proof that the visitor has entered it.
import multipart from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ApiError } from '../../platform/http/errors.ts'
import { onceClosed } from '../../platform/http/closed.ts'
import { parseFormFields } from '../../platform/http/form-fields.ts'
import { logoPath } from '../../identity/members/logo.ts'
import { getOrg } from '../../identity/members/orgs.ts'
import type { Db } from '../../platform/database/database.ts'
import type { App } from '../../platform/http/http.ts'
import { originOf } from '../../platform/http/http.ts'
import type { FilesDeps } from '../deps.ts'
import { getContent, previewFile } from '../content.ts'
import { contentOriginHeaders, dispositionOf, downloadHeaders, inlineHeaders } from '../downloads/content-headers.ts'
import { isOnContentOrigin } from '../downloads/content-origin.ts'
import { sendContent } from '../downloads/send-content.ts'
import type { PreviewPayload } from '../preview/payload.ts'
import { readForm } from '../uploads/multipart.ts'
import type { FilePart } from '../uploads/multipart.ts'
import { discard } from '../uploads/uploads.ts'
import type { Received } from '../uploads/uploads.ts'
import { filePage, folderPage, isDisplayed, passwordPage, uploadPage } from './page.ts'
import type { PageLinks, PageLook } from './page.ts'
import * as queries from './queries.ts'
import type { OpenShare, SharedItem } from './queries.ts'
import { redirectTo, sendPage, watchShare } from './visit-responses.ts'
import {
  countUpload,
  enterPassword,
  finishUpload,
  getSharedItem,
  isAdmitted,
  openVisit,
  receiveUpload,
  showsContent,
  takeDownload,
} from './visits.ts'
import type { Visit } from './visits.ts'

const hidden = (summary: string) => ({ hide: true, summary, response: { 200: Type.Unknown() } })

const Params = Type.Object({ token: Type.String({ maxLength: 64 }) })
const Query = Type.Object({
  access: Type.Optional(Type.String({ maxLength: 64 })),
  item: Type.Optional(Type.String({ format: 'uuid' })),
  page: Type.Integer({ minimum: 1, maximum: 1_000, default: 1 }),
  uploaded: Type.Optional(Type.String({ maxLength: 8 })),
  download: Type.Boolean({ default: false }),
})

const pageSize = 200

const previewOf = async (
  deps: FilesDeps,
  reply: FastifyReply,
  { share, item }: { share: OpenShare; item: SharedItem },
): Promise<PreviewPayload | undefined> => {
  const disconnect = new AbortController()
  onceClosed(reply.raw, () => disconnect.abort(new Error('the request was aborted')))
  try {
    return await previewFile(deps, share, item.id, disconnect.signal)
  } catch (error) {
    // A file of another type, or too many previews at once.
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** With the name and the logo of the org, for a visitor who has been admitted. */
const withOrg = async (db: Db, look: PageLook, { orgId }: OpenShare): Promise<PageLook> => {
  const { name, logoVersion } = await getOrg(db, orgId)
  return { ...look, org: { name, logo: logoPath(orgId, logoVersion) } }
}

interface ShownItem {
  look: PageLook
  share: OpenShare
  links: PageLinks
  item: SharedItem
  page: number
}

const renderItem = async (
  deps: FilesDeps,
  reply: FastifyReply,
  { look, share, links, item, page }: ShownItem,
): Promise<string> => {
  if (item.source === 'folder') {
    const window = { limit: pageSize + 1, offset: (page - 1) * pageSize }
    const items = await queries.listSharedItems(deps.db, share, item.id, window)
    const hasMore = items.length > pageSize
    return folderPage(look, share, links, { folder: item, items: items.slice(0, pageSize), page, hasMore })
  }
  const displays = showsContent(share) && isDisplayed(item.mimeType ?? '')
  const isPreviewed = showsContent(share) && !displays
  const preview = isPreviewed ? await previewOf(deps, reply, { share, item }) : undefined
  return filePage(look, share, links, { item, preview, displays })
}

/** Stores the file of a form of a visitor. */
const storeUpload = async (deps: FilesDeps, request: FastifyRequest, visit: Visit): Promise<void> => {
  const { orgId } = visit.share
  await deps.quotas.check(orgId, { files: 1 })
  let received: Received | undefined
  try {
    const receivePart = async (part: FilePart): Promise<FilePart> => {
      received = await receiveUpload(deps, visit, part)
      return part
    }
    const { file } = await readForm(request, receivePart, { guessesType: true })
    if (!received) throw new Error('the form has no file')
    const origin = { ip: request.ip, requestId: request.id }
    await finishUpload(deps, visit, { name: file.name, mimeType: file.mimeType, received, origin })
  } catch (error) {
    if (received) await discard(deps, orgId, received.blobId)
    throw error
  }
}

const originOfContent = (contentBaseUrl: string | undefined): string | undefined =>
  contentBaseUrl === undefined ? undefined : new URL(contentBaseUrl).origin

export const registerVisitRoutes = (app: App, deps: FilesDeps): void => {
  const { config, db, objects } = deps
  const contentOrigin = originOfContent(config.contentBaseUrl)

  app.get(
    '/s/:token',
    {
      config: { access: 'public', rateLimit: 'reads', what: 'Share' },
      schema: { ...hidden('The page of a share'), params: Params, querystring: Query },
    },
    (request, reply) => {
      const { params, query } = request
      return sendPage(reply, contentOrigin, async (visitor) => {
        const { share } = await openVisit(db, params.token)
        if (!isAdmitted(deps, share, query.access)) return passwordPage(visitor, params.token, false)
        const look = await withOrg(db, visitor, share)
        const access = share.hasPassword ? query.access : undefined
        const links = { token: params.token, access, contentOrigin: contentOrigin ?? '' }
        if (share.permission === 'upload') return uploadPage(look, share, links, query.uploaded !== undefined)
        const item = await getSharedItem(db, share, query.item ?? share.fileId)
        return renderItem(deps, reply, { look, share, links, item, page: query.page })
      })
    },
  )

  app.get(
    '/s/:token/files/:id',
    {
      config: { access: 'public', rateLimit: 'reads', what: 'File', onContentOrigin: true },
      schema: {
        ...hidden('The bytes of a shared file'),
        params: Type.Object({ ...Params.properties, id: Type.String({ format: 'uuid' }) }),
        querystring: Query,
      },
    },
    async (request, reply) => {
      const { params, query } = request
      const send = async (): Promise<FastifyReply> => {
        const { share } = await openVisit(db, params.token)
        if (!isAdmitted(deps, share, query.access)) return reply.redirect(`/s/${params.token}`, 302)
        const { id } = await getSharedItem(db, share, params.id)
        const content = await getContent(db, share.orgId, id)
        // With a limit every byte counts, so nothing is displayed and no part is sent.
        const isDownload = query.download || !showsContent(share)
        if (isDownload && request.method !== 'HEAD') {
          await takeDownload(db, share)
          for (const name of ['range', 'if-range', 'if-none-match']) Reflect.deleteProperty(request.headers, name)
        }
        const { name, mimeType } = content
        const inline = isOnContentOrigin(request, config.contentBaseUrl)
          ? contentOriginHeaders(
              dispositionOf('inline', name),
              mimeType,
              new URL(originOf(request, config.baseUrl)).origin,
            )
          : inlineHeaders(name, mimeType)
        const headers = isDownload ? downloadHeaders(mimeType, dispositionOf('attachment', name)) : inline
        watchShare(deps, reply, share)
        return sendContent(request, reply, { objects, content, headers })
      }
      try {
        return await send()
      } catch (error) {
        if (error instanceof ApiError) return sendPage(reply, contentOrigin, () => Promise.reject(error))
        throw error
      }
    },
  )

  registerVisitForms(app, deps, contentOrigin)
}

const registerVisitForms = (app: App, deps: FilesDeps, contentOrigin: string | undefined): void => {
  const { db } = deps

  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, parseFormFields(body as Buffer)),
    )
    scope.post(
      '/s/:token/password',
      {
        config: { access: 'public', rateLimit: 'signIn', what: 'Share' },
        schema: { ...hidden('Enter the password of a share'), params: Params },
      },
      (request, reply) => {
        const { token } = request.params
        const given = request.body instanceof URLSearchParams ? (request.body.get('password') ?? '') : ''
        return sendPage(reply, contentOrigin, async (look) => {
          const { share } = await openVisit(db, token)
          if (!share.hasPassword) return redirectTo(`/s/${token}`)
          const access = await enterPassword(deps, share, given)
          return access === undefined ? passwordPage(look, token, true) : redirectTo(`/s/${token}?access=${access}`)
        })
      },
    )
  })

  app.register(async (scope: App) => {
    await scope.register(multipart, { throwFileSizeLimit: false })
    scope.post(
      '/s/:token/uploads',
      {
        config: { access: 'public', rateLimit: 'uploads', what: 'Share', upload: 'form', events: ['file.created'] },
        schema: { ...hidden('Upload a file into a shared folder'), params: Params, querystring: Query },
      },
      (request, reply) => {
        const { params, query } = request
        return sendPage(reply, contentOrigin, async () => {
          const visit = await openVisit(db, params.token)
          if (!isAdmitted(deps, visit.share, query.access)) return redirectTo(`/s/${params.token}`)
          await countUpload(db, visit, () => storeUpload(deps, request, visit))
          const access = visit.share.hasPassword ? `&access=${query.access ?? ''}` : ''
          return redirectTo(`/s/${params.token}?uploaded=1${access}`)
        })
      },
    )
  })
}
