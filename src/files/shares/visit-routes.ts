// What visitors of a share see. No session or key is read here: the token in the path is the only credential, and a share
// with a password also needs the proof that the visitor has entered it.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { logoPath } from '../../identity/members/logo.ts'
import { getOrg } from '../../identity/members/orgs.ts'
import type { Db } from '../../platform/database/database.ts'
import { ApiError, badRequest } from '../../platform/http/errors.ts'
import { onceClosed } from '../../platform/http/closed.ts'
import type { App } from '../../platform/http/http.ts'
import { originOf } from '../../platform/http/http.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import { getContent, previewFile } from '../content.ts'
import type { Content } from '../content.ts'
import { contentOriginHeaders, dispositionOf, downloadHeaders, inlineHeaders } from '../downloads/content-headers.ts'
import type { ContentHeaders } from '../downloads/content-headers.ts'
import { isOnContentOrigin } from '../downloads/content-origin.ts'
import { sendContent } from '../downloads/send-content.ts'
import type { PreviewPayload } from '../preview/payload.ts'
import { lookOf, sendPage, sharePageErrors } from './error-pages.ts'
import { filePage, folderPage, passwordPage, uploadPage } from './page.ts'
import type { PageLinks, PageLook } from './page.ts'
import * as queries from './queries.ts'
import type { OpenShare, SharedItem } from './queries.ts'
import { watchDownload } from './running.ts'
import type { VisitContext } from './running.ts'
import { registerVisitForms } from './visit-forms.ts'
import { registerVisitImage } from './visit-image.ts'
import { FileParams, hidden, VisitParams, VisitQuery } from './visit-schemas.ts'
import {
  checkDownload,
  displaysBytes,
  displaysImage,
  getSharedItem,
  isAdmitted,
  openVisit,
  showsContent,
  takeDownload,
} from './visits.ts'
import type { Visit, VisitDeps } from './visits.ts'

const pageSize = 200

const previewOf = async (
  deps: VisitDeps,
  reply: FastifyReply,
  { visit, item }: { visit: Visit; item: SharedItem },
): Promise<PreviewPayload | undefined> => {
  const disconnect = new AbortController()
  onceClosed(reply.raw, () => disconnect.abort(badRequest('The request was aborted.')))
  try {
    return await previewFile(deps, visit.creator, item.id, {
      signal: disconnect.signal,
      visitor: addressGroup(reply.request.ip),
    })
  } catch (error) {
    // A file of another type, too many previews at once, or a visitor who has left.
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
  visit: Visit
  links: PageLinks
  item: SharedItem
  page: number
}

const renderItem = async (
  deps: VisitDeps,
  reply: FastifyReply,
  { look, visit, links, item, page }: ShownItem,
): Promise<string> => {
  const { share } = visit
  if (item.source === 'folder') {
    const window = { limit: pageSize + 1, offset: (page - 1) * pageSize }
    const items = await queries.listSharedItems(deps.db, visit, item.id, window)
    const hasMore = items.length > pageSize
    return folderPage(look, share, links, { folder: item, items: items.slice(0, pageSize), page, hasMore })
  }
  const displays = displaysBytes(share, item) ? 'bytes' : displaysImage(share, item) ? 'image' : undefined
  const isPreviewed = showsContent(share) && displays === undefined
  const preview = isPreviewed ? await previewOf(deps, reply, { visit, item }) : undefined
  return filePage(look, share, links, { item, preview, displays })
}

const conditions = ['range', 'if-range', 'if-none-match', 'if-match', 'if-modified-since', 'if-unmodified-since']

/** Counts a download. A download is sent whole, because a part, or the confirmation of known bytes, would not count. */
const beginDownload = async ({ db }: VisitDeps, request: FastifyRequest, share: OpenShare): Promise<void> => {
  if (request.method === 'HEAD') checkDownload(share)
  else await takeDownload(db, share)
  for (const name of conditions) Reflect.deleteProperty(request.headers, name)
}

const headersOf = (
  { config }: VisitDeps,
  request: FastifyRequest,
  { content: { name, mimeType }, isDisplayed }: { content: Content; isDisplayed: boolean },
): ContentHeaders => {
  if (!isDisplayed) return downloadHeaders(mimeType, dispositionOf('attachment', name))
  if (!isOnContentOrigin(request, config.contentBaseUrl)) return inlineHeaders(name, mimeType)
  const { origin } = new URL(originOf(request, config.baseUrl))
  return contentOriginHeaders(dispositionOf('inline', name), mimeType, origin)
}

const registerBytes = (app: App, deps: VisitDeps, { contentOrigin, running }: VisitContext): void => {
  const { config, db, objects } = deps

  app.get(
    '/s/:token/files/:id',
    {
      config: { access: 'public', rateLimit: 'reads', what: 'File', onContentOrigin: true },
      schema: {
        ...hidden('The bytes of a shared file'),
        params: FileParams,
        querystring: VisitQuery,
      },
    },
    async (request, reply) => {
      const { params, query } = request
      const { token } = params
      const visit = await openVisit(db, token)
      const { share } = visit
      if (!isAdmitted(deps, share, query.access)) {
        // The page does not exist on the content origin.
        return reply.redirect(`${originOf(request, config.baseUrl)}/s/${token}`, 302)
      }
      const item = await getSharedItem(db, visit, params.id)
      const content = await getContent(db, visit.creator, item.id)
      const isDisplayed = !query.download && displaysBytes(share, item)
      if (isDisplayed && contentOrigin !== undefined && !isOnContentOrigin(request, config.contentBaseUrl)) {
        return reply.header('cache-control', 'no-store').redirect(contentOrigin + request.url, 302)
      }
      if (!isDisplayed) await beginDownload(deps, request, share)
      watchDownload(running, db, { token, share, item, isDisplayed, reply })
      const headers = headersOf(deps, request, { content, isDisplayed })
      return sendContent(request, reply, { objects, content, headers })
    },
  )
}

export const registerVisitRoutes = (app: App, deps: VisitDeps, context: VisitContext): void => {
  const { db } = deps
  const { contentOrigin } = context
  app.errorFormats.push(sharePageErrors(contentOrigin))

  app.get(
    '/s/:token',
    {
      config: { access: 'public', rateLimit: 'reads', what: 'Share' },
      schema: { ...hidden('The page of a share'), params: VisitParams, querystring: VisitQuery },
    },
    async (request, reply) => {
      const { params, query } = request
      const render = async (): Promise<string> => {
        const visit = await openVisit(db, params.token)
        const { share } = visit
        if (!isAdmitted(deps, share, query.access)) return passwordPage(lookOf(request), params.token, false)
        const look = await withOrg(db, lookOf(request), share)
        const access = share.hasPassword ? query.access : undefined
        const links = { token: params.token, access, contentOrigin: contentOrigin ?? '' }
        if (share.permission === 'upload') return uploadPage(look, share, links, query.uploaded !== undefined)
        const item = await getSharedItem(db, visit, query.item ?? share.fileId)
        return renderItem(deps, reply, { look, visit, links, item, page: query.page })
      }
      return sendPage(reply, contentOrigin, await render())
    },
  )

  registerBytes(app, deps, context)
  registerVisitImage(app, deps)
  registerVisitForms(app, deps, context)
}
