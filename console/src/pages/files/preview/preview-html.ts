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

/**
 * The checked HTML of a preview: a TrustedHTML object in browsers with Trusted Types, which React passes on unchanged.
 * Undefined when the markup is not allowed; the caller then shows the plain text.
 */
export const previewHtml = (html: string): string | undefined => {
  try {
    return policy ? policy.createHTML(html) : checkPreviewHtml(html)
  } catch {
    return undefined
  }
}
