const quotable = (name: string): string => name.replaceAll(/[^\x20-\x7E]/gu, '_').replaceAll(/["\\%]/g, '_')

// RFC 8187, attr-char: fewer characters may be unencoded than encodeURIComponent leaves.
const extended = (name: string): string =>
  encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** A Content-Disposition with the name in both forms, for clients with and without support for RFC 8187. */
export const dispositionOf = (kind: 'inline' | 'attachment', name: string): string =>
  `${kind}; filename="${quotable(name)}"; filename*=UTF-8''${extended(name)}`

const policyFor = (framedBy: string): string =>
  `default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; frame-ancestors ${framedBy}`

const inlinePolicy = (mimeType: string, framedBy: string): string =>
  mimeType === 'application/pdf' ? policyFor(framedBy) : `${policyFor(framedBy)}; sandbox`

const isMarkup = (mimeType: string): boolean =>
  mimeType === 'text/html' || mimeType === 'text/xml' || mimeType === 'application/xml' || mimeType.endsWith('+xml')

// The JavaScript MIME types of https://mimesniff.spec.whatwg.org/#javascript-mime-type, and CSS. A page can load a
// script, worker or style sheet from a URL in spite of Content-Disposition, but with `nosniff` only with these types.
const scriptOrStyle = /^(?:text|application)\/(?:x-)?(?:(?:java|ecma|live|j)script(?:1\.\d)?|css)$/

const plainText = 'text/plain; charset=utf-8'

/**
 * The Content-Type of a download: the file's own, but text/plain instead of a script or style sheet type, which another
 * page could load in spite of `Content-Disposition: attachment`.
 */
export const downloadTypeOf = (mimeType: string): string => (scriptOrStyle.test(mimeType) ? 'text/plain' : mimeType)

// Without a charset browsers decode text as Windows-1252. A byte order mark overrides the charset.
const inlineTypeOf = (mimeType: string): string => {
  if (isMarkup(mimeType) || scriptOrStyle.test(mimeType)) return plainText
  return mimeType.startsWith('text/') ? `${mimeType}; charset=utf-8` : mimeType
}

/** The security headers of a response with user content, and of its 304, which replaces the cached headers. */
const protection = (policy: string, resourcePolicy = 'same-origin'): Record<string, string> => ({
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': resourcePolicy,
  'referrer-policy': 'no-referrer',
})

/** Headers of a response with user content. */
export interface ContentHeaders {
  /** Describe the bytes; left out of a response without bytes. */
  content: Record<string, string>
  /** Restrict what a browser does with them; on every response. */
  protection: Record<string, string>
}

/**
 * The headers of a file that a browser displays on the API's origin. No script runs and nothing is loaded: markup is
 * displayed as text, and everything except PDF, which browsers do not display in a sandbox, is sandboxed.
 */
export const inlineHeaders = (name: string, mimeType: string): ContentHeaders => ({
  content: { 'content-type': inlineTypeOf(mimeType), 'content-disposition': dispositionOf('inline', name) },
  protection: protection(inlinePolicy(mimeType, "'self'")),
})

/** The headers of a download. */
export const downloadHeaders = (mimeType: string, disposition: string): ContentHeaders => ({
  content: { 'content-type': downloadTypeOf(mimeType), 'content-disposition': disposition },
  protection: protection("default-src 'none'; frame-ancestors 'none'; sandbox"),
})

/**
 * The headers of a file that a browser displays on the content origin, framed by pages at `appOrigin`. Markup keeps its
 * type there, so that SVG is displayed as an image; the sandbox disables its scripts and forms and gives it an opaque
 * origin.
 */
export const contentOriginHeaders = (disposition: string, mimeType: string, appOrigin: string): ContentHeaders => ({
  content: {
    'content-type': isMarkup(mimeType) ? mimeType : inlineTypeOf(mimeType),
    'content-disposition': disposition,
  },
  protection: protection(inlinePolicy(mimeType, appOrigin), 'cross-origin'),
})
