interface Content {
  type?: unknown
  text?: unknown
  mimeType?: unknown
  resource?: { uri?: unknown; mimeType?: unknown; text?: unknown } | null
}

const resourceOf = ({ type, resource }: Content): unknown => {
  const { uri, mimeType, text } = resource ?? {}
  return typeof text === 'string' ? { type, uri, mimeType, text } : { type, uri, mimeType, omitted: true }
}

/** One block of content. Images, audio and binary resources become a note, because results of tools are text. */
export const textContentOf = (part: unknown): unknown => {
  const content = (typeof part === 'object' && part !== null ? part : {}) as Content
  if (content.type === 'text' || content.type === 'resource_link') return content
  if (content.type === 'resource') return resourceOf(content)
  return { type: content.type, mimeType: content.mimeType, omitted: true }
}

/** The text of a result, for an error message. */
export const plainTextOf = (result: Record<string, unknown>): string =>
  ((Array.isArray(result['content']) ? result['content'] : []) as (Content | null)[])
    .flatMap((part) => (typeof part?.text === 'string' ? [part.text] : []))
    .join('\n')
    .slice(0, 2_000)
