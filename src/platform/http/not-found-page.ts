import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { preferredLanguage } from '../text/languages.ts'
import type { Language } from '../text/languages.ts'
import { errorFormatOf } from './error-formats.ts'

const style = `
:root { color-scheme: light dark }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 16px/1.5 system-ui, sans-serif; color: light-dark(#1b1b1f, #ececef); background: light-dark(#f7f7f6, #101012) }
main { padding: 24px; max-width: 28rem; text-align: center }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 8px }
p { margin: 0 0 24px; color: light-dark(#5c5c66, #a3a3ae) }
a { display: inline-block; padding: 8px 16px; border-radius: 8px; font-weight: 600; text-decoration: none; color: #fff; background: light-dark(#4f46e5, #645aea) }
a:focus-visible { outline: 2px solid light-dark(#6366f1, #8b83ff); outline-offset: 2px }
`

/** Content-Security-Policy of the page: its inline style and nothing else. */
export const notFoundPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const texts: Record<Language, { title: string; text: string; link: string }> = {
  en: {
    title: 'Page not found',
    text: 'The link is wrong, or the page has moved.',
    link: 'Go to the home page',
  },
  de: {
    title: 'Seite nicht gefunden',
    text: 'Der Link ist falsch, oder die Seite wurde verschoben.',
    link: 'Zur Startseite',
  },
}

const pageIn = (language: Language): string => {
  const { title, text, link } = texts[language]
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Atrium</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>
<a href="/">${link}</a>
</main>
</body>
</html>
`
}

/** The page of an unknown path, in the language that the browser prefers. It contains nothing of the request. */
export const notFoundPage = ({ headers }: FastifyRequest): { language: Language; page: string } => {
  const language = preferredLanguage(headers['accept-language'])
  return { language, page: pageIn(language) }
}

const isOfApi = /^\/(?:api|\.well-known)(?:[/?]|$)/

/**
 * Whether a person opened the URL of the request in a browser: such requests name `text/html`, and scripts do not by
 * default. Paths of the API and of other protocols are for programs, whatever they accept.
 */
export const isNavigation = (request: FastifyRequest): boolean => {
  const { method, headers, url } = request
  if (method !== 'GET' && method !== 'HEAD') return false
  if (isOfApi.test(url) || errorFormatOf(request) !== undefined) return false
  const mode = headers['sec-fetch-mode']
  return (mode === undefined || mode === 'navigate') && (headers.accept ?? '').includes('text/html')
}
