import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { App } from '../platform/http/http.ts'

const built = fileURLToPath(new URL('../../console/dist', import.meta.url))

/** Other origins that the console uses. */
export interface ConsoleOrigins {
  /** Of user content. */
  contentOrigin: string | undefined
  /** Of the bucket, to which the console sends files when it is configured to. */
  uploadOrigin: string | undefined
}

// Scripts, styles and fonts are files of this server, nothing is evaluated, and no other page may frame the console.
// `blob:` is for images that are selected for an upload. Images, media and PDFs come from the API, or from the origin of
// user content if configured.
const contentSecurityPolicyOf = ({ contentOrigin, uploadOrigin }: ConsoleOrigins): string => {
  const from = contentOrigin === undefined ? "'self'" : `'self' ${contentOrigin}`
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    `img-src ${from} blob: data:`,
    `media-src ${from} blob:`,
    uploadOrigin === undefined ? "connect-src 'self'" : `connect-src 'self' ${uploadOrigin}`,
    `frame-src ${from}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // Assigning text to innerHTML throws. The only policies are that of console/src/pages/files/preview, which allows the
    // tags of previews, and that of console/src/pages/chat/markdown, which allows the script of its worker.
    "require-trusted-types-for 'script'",
    'trusted-types atrium-preview atrium-worker',
  ].join('; ')
}

/** The path prefixes of console pages, which the console routes itself. Other paths are JSON. */
const pages = [
  '/',
  '/sign-in',
  '/authorize',
  '/files',
  '/agents',
  '/chat',
  '/webhooks',
  '/events',
  '/billing',
  '/connections',
  '/settings',
]

const unbuilt = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Atrium</title>
<h1>Atrium is running</h1>
<p>The console is not built. The output of <code>npm start</code> says why.</p>
<p>The API works. See the <a href="/docs">API reference</a>.</p>
`

const hidden = (summary: string) => ({
  config: { access: 'public' as const },
  schema: { hide: true, summary, response: { 200: Type.Unknown() } },
})

const sendPage = (reply: FastifyReply, contentSecurityPolicy: string): FastifyReply => {
  reply.headers({ 'content-security-policy': contentSecurityPolicy, 'cache-control': 'no-cache' })
  if (!existsSync(`${built}/index.html`)) return reply.code(503).type('text/html; charset=utf-8').send(unbuilt)
  return reply.sendFile('index.html')
}

/** Serves the console: precompressed files that `npm start` built. */
export const registerConsole = async (app: App, origins: ConsoleOrigins): Promise<void> => {
  const policy = contentSecurityPolicyOf(origins)
  await app.register(fastifyStatic, {
    root: built,
    serve: false,
    preCompressed: true,
    cacheControl: false,
    dotfiles: 'deny',
    decorateReply: true,
  })
  for (const page of pages) {
    app.get(page, hidden('A page of the console'), async (_request, reply) => sendPage(reply, policy))
    if (page === '/' || page === '/sign-in' || page === '/authorize') continue
    app.get(`${page}/*`, hidden('A page of the console'), async (_request, reply) => sendPage(reply, policy))
  }
  app.get('/assets/*', hidden('A file of the console'), async (request, reply) => {
    const { '*': file } = request.params as { '*': string }
    // Built files have a hash of their content in their names.
    const isHashed = /-[\w-]{8}\.\w+$/.test(file)
    reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
    return reply.sendFile(`assets/${file}`)
  })
}
