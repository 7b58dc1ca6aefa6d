/** The part of the Trusted Types API that is used here; TypeScript's own types of the DOM do not have it yet. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): string }
}

// What the server writes (src/files/preview/formats/document-writer.ts), and nothing else: tags without attributes, and links.
const allowedTag =
  /<\/?(?:p|h[1-6]|ul|ol|li|table|tbody|tr|td|th|br|strong|em)>|<a href="\s*(?:https?|mailto):[^"<>]*" rel="noopener noreferrer nofollow">|<\/a>/gi

/** The HTML itself. Throws a TypeError when anything is in it that a preview does not consist of. */
const checkPreviewHtml = (html: string): string => {
  if (html.replaceAll(allowedTag, '').includes('<'))
    throw new TypeError('The preview contains markup that is not allowed.')
  return html
}

// The only policy that the content security policy of the page allows to exist. It has to be made once per page.
const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
const policy = trustedTypes?.createPolicy('atrium-preview', { createHTML: checkPreviewHtml })

/**
 * HTML of a preview as the browser accepts it: a TrustedHTML where the browser enforces Trusted Types, which React hands
 * on unchanged. Undefined when it is not what the server writes; the caller then shows the text.
 */
export const previewHtml = (html: string): string | undefined => {
  try {
    return policy ? policy.createHTML(html) : checkPreviewHtml(html)
  } catch {
    return undefined
  }
}
