/** The used part of the Trusted Types API, which TypeScript's DOM types do not include yet. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): string }
}

// Exactly what src/files/preview/formats/document-writer.ts writes: tags without attributes, and links.
const allowedTag =
  /<\/?(?:p|h[1-6]|ul|ol|li|table|tbody|tr|td|th|br|strong|em)>|<a href="\s*(?:https?|mailto):[^"<>]*" rel="noopener noreferrer nofollow">|<\/a>/gi

/** Returns the HTML unchanged. Throws a TypeError when it contains other markup. */
const checkPreviewHtml = (html: string): string => {
  if (html.replaceAll(allowedTag, '').includes('<'))
    throw new TypeError('The preview contains markup that is not allowed.')
  return html
}

// The content security policy allows only this policy name, and only one policy of that name per page.
const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
const policy = trustedTypes?.createPolicy('atrium-preview', { createHTML: checkPreviewHtml })

const partLength = 10_000
const block = /<(\/?)(?:p|h[1-6]|ul|ol|table)>/g

/** Parts of whole blocks, which can be laid out one by one. A part is longer than others when its last block is. */
const partsOf = (html: string): string[] => {
  const parts: string[] = []
  let start = 0
  let depth = 0
  for (const { 0: tag, 1: slash, index } of html.matchAll(block)) {
    depth += slash === '' ? 1 : -1
    const end = index + tag.length
    if (depth > 0 || end - start < partLength) continue
    parts.push(html.slice(start, end))
    start = end
  }
  return start < html.length || parts.length === 0 ? [...parts, html.slice(start)] : parts
}

/**
 * The checked HTML of a preview in parts: TrustedHTML objects in browsers with Trusted Types, which React passes on
 * unchanged. Undefined when the markup is not allowed; the caller then shows the plain text.
 */
export const previewHtml = (html: string): string[] | undefined => {
  try {
    return partsOf(html).map((part) => (policy ? policy.createHTML(part) : checkPreviewHtml(part)))
  } catch {
    return undefined
  }
}
