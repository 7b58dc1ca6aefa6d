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

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; frame-ancestors 'self'"

const isMarkup = (mimeType: string): boolean =>
  mimeType === 'text/html' || mimeType === 'text/xml' || mimeType === 'application/xml' || mimeType.endsWith('+xml')

// Without a charset browsers take text for Windows-1252. A byte order mark goes before what is said here.
const shownAs = (mimeType: string): string => {
  if (isMarkup(mimeType)) return 'text/plain; charset=utf-8'
  return mimeType.startsWith('text/') ? `${mimeType}; charset=utf-8` : mimeType
}

/**
 * The headers of a file that a browser shows by itself. Nothing in it may run or reach out, whatever the bytes are:
 * markup is shown as text, and all but PDF (which browsers refuse to show then) is sandboxed.
 */
export const inlineHeaders = (name: string, mimeType: string): Record<string, string> => ({
  'content-type': shownAs(mimeType),
  'content-disposition': dispositionOf('inline', name),
  'content-security-policy': mimeType === 'application/pdf' ? policy : `${policy}; sandbox`,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
})
