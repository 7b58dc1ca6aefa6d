import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { isNotModified } from '../platform/http/etag.ts'
import type { App } from '../platform/http/http.ts'
import { gzippedViewer, viewerVersion } from './viewer.ts'

const document = new URL('../../docs/openapi.json', import.meta.url)

// All scripts come from this server and nothing is evaluated. The viewer and its editor write style elements, some of
// which cannot be given a nonce.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types vue default',
].join('; ')

/** Streams the committed document from disk, so that it uses no memory before a request. */
const sendDocument = async (request: FastifyRequest, reply: FastifyReply) => {
  const { mtimeMs, size } = await stat(document)
  const etag = `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`
  reply.headers({ etag, 'cache-control': 'no-cache' })
  if (isNotModified(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(createReadStream(document))
}

const hidden = (summary: string) => ({ hide: true, summary, response: { 200: Type.Unknown() } })

/** `GET /openapi.json`, and its viewer `GET /docs`, which requests no other host. */
export const registerReference = (app: App): void => {
  let script: Promise<Buffer> | undefined
  let page: Promise<[html: string, version: string]> | undefined
  const config = { access: 'public' } as const

  app.get('/openapi.json', { config, schema: hidden('The OpenAPI document') }, sendDocument)

  app.get('/docs', { config, schema: hidden('The reference, to browse') }, async (_request, reply) => {
    page ??= Promise.all([readFile(new URL('page.html', import.meta.url), 'utf8'), viewerVersion()])
    const [html, version] = await page
    return reply
      .headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(html.replace('{version}', version))
  })

  app.get('/docs/page.js', { config, schema: hidden('What starts the reference') }, async (_request, reply) =>
    reply
      .header('cache-control', 'no-cache')
      .type('text/javascript; charset=utf-8')
      .send(createReadStream(new URL('page.js', import.meta.url))),
  )

  app.get('/docs/scalar.js', { config, schema: hidden('The viewer') }, async (request, reply) => {
    script ??= gzippedViewer()
    const gzipped = await script
    // The URL contains the version.
    reply.headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' })
    reply.type('text/javascript; charset=utf-8')
    if (/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) {
      return reply.header('content-encoding', 'gzip').send(gzipped)
    }
    return reply.send(Readable.from([gzipped]).pipe(createGunzip()))
  })
}
