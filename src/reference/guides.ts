import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { App } from '../platform/http/http.ts'

const built = fileURLToPath(new URL('../../docs/site/dist', import.meta.url))

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

const unbuilt = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Guides</title>
<h1>The guides are not built</h1>
<p><code>npm run docs -- build</code> in the folder of Atrium builds them. They are also files in <code>docs/guides</code>.</p>
`

/** Everything comes from this server. Two short scripts are within each page; highlighted code has style attributes. */
const policyOf = (html: string): string => {
  const inline = [...html.matchAll(/<script(?: id="[\w-]+")?>([^<]*)<\/script>/g)]
  const hashes = inline.map(([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(' '),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const sendPage = async (reply: FastifyReply, file: string, status = 200) => {
  const html = await readFile(file, 'utf8').catch(() => undefined)
  const policy = policyOf(html ?? unbuilt)
  reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' }).type('text/html; charset=utf-8')
  return html === undefined ? reply.code(404).send(unbuilt) : reply.code(status).send(html)
}

const hidden = (summary: string) => ({
  config: { access: 'public' as const },
  schema: { hide: true, summary, response: { 200: Type.Unknown() } },
})

/** `GET /docs/guides`: the website of the documents, if it was built (`scripts/docs.ts`). */
export const registerGuides = (app: App, root: string = built): void => {
  app.get('/docs/guides', hidden('The guides'), (_request, reply) => reply.redirect('/docs/guides/', 302))

  app.get('/docs/guides/*', hidden('A page of the guides'), async (request, reply) => {
    const { '*': asked } = request.params as { '*': string }
    const path = normalize(join(root, asked))
    const isInside = path === `${root}${sep}` || path === root || path.startsWith(root + sep)
    const extension = extname(path)
    if (!isInside || asked.includes('\0')) return sendPage(reply, join(root, '404.html'), 404)
    if (extension === '' || extension === '.html') {
      const page =
        asked === '' || asked.endsWith('/') ? join(path, 'index.html') : extension === '' ? `${path}.html` : path
      const exists = await stat(page).then(
        (found) => found.isFile(),
        () => false,
      )
      return sendPage(reply, exists ? page : join(root, '404.html'), exists ? 200 : 404)
    }
    const found = await stat(path).catch(() => undefined)
    const type = types[extension]
    if (!found?.isFile() || type === undefined) return sendPage(reply, join(root, '404.html'), 404)
    // Built files have a hash of their content in their names.
    const isHashed = asked.startsWith('assets/')
    reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
    return reply.type(type).send(createReadStream(path))
  })
}
