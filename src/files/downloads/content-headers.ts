const quotable = (name: string): string => name.replaceAll(/[^\x20-\x7E]/gu, '_').replaceAll(/["\\%]/g, '_')

// RFC 8187, attr-char: what may stand unencoded is less than encodeURIComponent leaves.
const extended = (name: string): string =>
  encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** A Content-Disposition with the name in both forms: for those who know RFC 8187 and those who do not. */
export const dispositionOf = (kind: 'inline' | 'attachment', name: string): string =>
  `${kind}; filename="${quotable(name)}"; filename*=UTF-8''${extended(name)}`

const policyFor = (framedBy: string): string =>
  `default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; frame-ancestors ${framedBy}`

const inlinePolicy = (mimeType: string, framedBy: string): string =>
  mimeType === 'application/pdf' ? policyFor(framedBy) : `${policyFor(framedBy)}; sandbox`

const isMarkup = (mimeType: string): boolean =>
  mimeType === 'text/html' || mimeType === 'text/xml' || mimeType === 'application/xml' || mimeType.endsWith('+xml')

// The JavaScript MIME types of https://mimesniff.spec.whatwg.org/#javascript-mime-type, and CSS. A page loads a script, a
// worker or a style sheet from any URL whose policy allows it, whatever Content-Disposition says, but with `nosniff` only
// under one of these types.
const scriptOrStyle = /^(?:text|application)\/(?:x-)?(?:(?:java|ecma|live|j)script(?:1\.\d)?|css)$/

const plainText = 'text/plain; charset=utf-8'

/**
 * The type under which a file is downloaded: its own, but never one under which a browser would run or apply the bytes
 * as part of another page. `Content-Disposition: attachment` does not prevent that.
 */
export const downloadTypeOf = (mimeType: string): string => (scriptOrStyle.test(mimeType) ? 'text/plain' : mimeType)

// Without a charset browsers take text for Windows-1252. A byte order mark goes before what is said here.
const shownAs = (mimeType: string): string => {
  if (isMarkup(mimeType) || scriptOrStyle.test(mimeType)) return plainText
  return mimeType.startsWith('text/') ? `${mimeType}; charset=utf-8` : mimeType
}

/** What holds for a response with bytes of a user, and for its revalidation by 304, which replaces cached headers. */
const protection = (policy: string, resourcePolicy = 'same-origin'): Record<string, string> => ({
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': resourcePolicy,
  'referrer-policy': 'no-referrer',
})

/** Headers of a file that a browser shows or saves. */
export interface ContentHeaders {
  /** What the bytes are; absent where there are none. */
  content: Record<string, string>
  /** What a browser may do with them. */
  protection: Record<string, string>
}

/**
 * The headers of a file that a browser shows by itself. Nothing in it may run or reach out, whatever the bytes are:
 * markup is shown as text, and all but PDF (which browsers refuse to show then) is sandboxed.
 */
export const inlineHeaders = (name: string, mimeType: string): ContentHeaders => ({
  content: { 'content-type': shownAs(mimeType), 'content-disposition': dispositionOf('inline', name) },
  protection: protection(inlinePolicy(mimeType, "'self'")),
})

/** The headers of a file that a browser saves. */
export const downloadHeaders = (mimeType: string, disposition: string): ContentHeaders => ({
  content: { 'content-type': downloadTypeOf(mimeType), 'content-disposition': disposition },
  protection: protection("default-src 'none'; frame-ancestors 'none'; sandbox"),
})

/**
 * The same on the origin of user content, where the API's pages at `appOrigin` show it. Markup keeps its type there, so
 * that SVG is a picture; the sandbox still takes its scripts, its forms and its origin away.
 */
export const inlineHeadersElsewhere = (disposition: string, mimeType: string, appOrigin: string): ContentHeaders => ({
  content: { 'content-type': isMarkup(mimeType) ? mimeType : shownAs(mimeType), 'content-disposition': disposition },
  protection: protection(inlinePolicy(mimeType, appOrigin), 'cross-origin'),
})
