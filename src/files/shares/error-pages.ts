import type { FastifyReply, FastifyRequest } from 'fastify'
import { preferredLanguage } from '../../platform/text/languages.ts'
import type { ErrorFormat } from '../../platform/http/error-formats.ts'
import { messagePage, pagePolicy } from './page.ts'
import type { PageLook } from './page.ts'
import { explanation } from './texts.ts'

/** How pages look for a visitor who has not been admitted. */
export const lookOf = ({ headers }: FastifyRequest): PageLook => ({
  language: preferredLanguage(headers['accept-language']),
})

const pageHeaders = ({ language }: PageLook, contentOrigin: string | undefined): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': pagePolicy(contentOrigin),
  'content-language': language,
  vary: 'accept-language',
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
})

export const sendPage = (reply: FastifyReply, contentOrigin: string | undefined, page: string): FastifyReply =>
  reply.headers(pageHeaders(lookOf(reply.request), contentOrigin)).send(page)

/** Visitors of shares use browsers, so every error below `/s` is a page, also one of a limit or an unknown path. */
export const sharePageErrors = (contentOrigin: string | undefined): ErrorFormat => ({
  prefix: '/s',
  failure: (error, request) => {
    const look = lookOf(request)
    const isUpload = request.routeOptions.url === '/s/:token/uploads'
    const { title, text } = explanation(look.language, error, isUpload)
    return { body: messagePage(look, title, text), headers: pageHeaders(look, contentOrigin) }
  },
})
