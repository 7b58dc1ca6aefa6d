import type { FastifyReply } from 'fastify'
import { preferredLanguage } from '../../identity/languages.ts'
import { onceClosed } from '../../platform/http/closed.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { FilesDeps } from '../deps.ts'
import { messagePage, pagePolicy } from './page.ts'
import type { PageLook } from './page.ts'
import * as queries from './queries.ts'
import type { OpenShare } from './queries.ts'
import { explanation } from './texts.ts'

/** A path of this server, as the result of a request after which the browser loads another page. */
export const redirectTo = (path: string): URL => new URL(path, 'http://server.invalid')
const pathOf = ({ pathname, search }: URL): string => pathname + search

/** Sends a page. Errors of the API become pages as well. */
export const sendPage = async (
  reply: FastifyReply,
  contentOrigin: string | undefined,
  render: (look: PageLook) => Promise<string | URL>,
): Promise<FastifyReply> => {
  const language = preferredLanguage(reply.request.headers['accept-language'])
  let status = 200
  let page: string | URL
  try {
    page = await render({ language })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    status = error.status
    const { title, text } = explanation(language, error)
    page = messagePage({ language }, title, text)
  }
  if (page instanceof URL) return reply.header('cache-control', 'no-store').redirect(pathOf(page), 303)
  reply.headers({
    'content-security-policy': pagePolicy(contentOrigin),
    'cache-control': 'no-store',
    'content-language': language,
    vary: 'accept-language',
    'x-robots-tag': 'noindex, nofollow',
  })
  return reply.code(status).type('text/html; charset=utf-8').send(page)
}

/** How often a running download checks that its share still exists. */
const checkMs = 500

/** Ends a running download within a second after its share has ended. */
export const watchShare = ({ db, log }: FilesDeps, reply: FastifyReply, share: OpenShare): void => {
  const timer = setInterval(() => {
    queries.isShareOpen(db, share).then(
      (isOpen) => {
        if (!isOpen) reply.raw.destroy()
      },
      (error: unknown) => log.warn({ err: error, shareId: share.id }, 'a share could not be checked'),
    )
  }, checkMs)
  onceClosed(reply.raw, () => clearInterval(timer))
}
