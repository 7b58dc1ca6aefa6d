import { readFile } from 'node:fs/promises'
import { Type } from 'typebox'
import type { App } from '../platform/http.ts'

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const files = {
  '/': ['page.html', 'text/html; charset=utf-8'],
  // Where one-time links lead; the token is behind the #, which browsers do not send.
  '/sign-in': ['page.html', 'text/html; charset=utf-8'],
  '/welcome/page.css': ['page.css', 'text/css; charset=utf-8'],
  '/welcome/page.js': ['page.js', 'text/javascript; charset=utf-8'],
} as const

/** The page that a person sees who opens the server's URL: sign-in, a first password, and the way to the reference. */
export const registerWelcome = async (app: App): Promise<void> => {
  for (const [path, [name, type]] of Object.entries(files)) {
    const body = await readFile(new URL(name, import.meta.url), 'utf8')
    app.get(
      path,
      {
        config: { access: 'public' },
        schema: { hide: true, summary: 'The welcome page', response: { 200: Type.String() } },
      },
      async (_request, reply) =>
        reply
          .type(type)
          .header('content-security-policy', contentSecurityPolicy)
          .header('cache-control', 'no-cache')
          .serializer((text: string) => text)
          .send(body),
    )
  }
}
