// What visitors send: the password of a share, and files for a drop box.
import multipart from '@fastify/multipart'
import type { FastifyReply } from 'fastify'
import { parseFormFields } from '../../platform/http/form-fields.ts'
import type { App } from '../../platform/http/http.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import { createUploadPlaces, storeUpload } from './drop-box.ts'
import { lookOf, sendPage } from './error-pages.ts'
import { passwordPage } from './page.ts'
import { watchUpload } from './running.ts'
import type { VisitContext } from './running.ts'
import { hidden, VisitParams, VisitQuery } from './visit-schemas.ts'
import { enterPassword, isAdmitted, openVisit } from './visits.ts'
import type { VisitDeps } from './visits.ts'

/** Lets the browser load another page of this server. */
const showPage = (reply: FastifyReply, path: string): FastifyReply =>
  reply.header('cache-control', 'no-store').redirect(path, 303)

export const registerVisitForms = (app: App, deps: VisitDeps, { contentOrigin, running }: VisitContext): void => {
  const { db } = deps
  const places = createUploadPlaces()

  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, parseFormFields(body as Buffer)),
    )
    scope.post(
      '/s/:token/password',
      {
        config: { access: 'public', rateLimit: 'none', what: 'Share' },
        schema: { ...hidden('Enter the password of a share'), params: VisitParams },
      },
      async (request, reply) => {
        const { token } = request.params
        // Of the same size as the limit of sign-in, but counted apart: nobody is kept from signing in by a share.
        await request.takeRateLimit('signIn', `share ${addressGroup(request.ip)}`)
        const password = request.body instanceof URLSearchParams ? (request.body.get('password') ?? '') : ''
        const { share } = await openVisit(db, token)
        if (!share.hasPassword) return showPage(reply, `/s/${token}`)
        const access = await enterPassword(deps, share, { password, ip: request.ip })
        if (access !== undefined) return showPage(reply, `/s/${token}?access=${access}`)
        return sendPage(reply, contentOrigin, passwordPage(lookOf(request), token, true))
      },
    )
  })

  app.register(async (scope: App) => {
    await scope.register(multipart, { throwFileSizeLimit: false })
    scope.post(
      '/s/:token/uploads',
      {
        config: { access: 'public', rateLimit: 'uploads', what: 'Share', upload: 'form', events: ['file.created'] },
        schema: { ...hidden('Upload a file into a shared folder'), params: VisitParams, querystring: VisitQuery },
      },
      async (request, reply) => {
        const { token } = request.params
        const { access } = request.query
        const visit = await openVisit(db, token)
        if (!isAdmitted(deps, visit.share, access)) return showPage(reply, `/s/${token}`)
        watchUpload(running, { token, share: visit.share, raw: request.raw })
        await places.run(visit.share, request.ip, () => storeUpload(deps, request, visit))
        return showPage(reply, `/s/${token}?uploaded=1${visit.share.hasPassword ? `&access=${access ?? ''}` : ''}`)
      },
    )
  })
}
