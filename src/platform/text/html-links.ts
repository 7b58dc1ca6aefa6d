import { parseHtml } from './html-parser.ts'

const maxLinks = 200
const maxTextLength = 200

export interface PageLink {
  url: string
  text: string
}

/** The http and https links of a page with their texts, each URL once. */
export const linksOf = (html: string, base: string): PageLink[] => {
  const links = new Map<string, string>()
  let current: string | undefined
  parseHtml(html, {
    open: (name, { href }) => {
      if (name !== 'a') return
      const target = href === undefined || href.startsWith('#') ? null : URL.parse(href, base)
      const isKnown = target !== null && links.has(target.href)
      const hasRoom = isKnown || links.size < maxLinks
      current = target && hasRoom && /^https?:$/.test(target.protocol) ? target.href : undefined
      if (current !== undefined && !isKnown) links.set(current, '')
    },
    text: (words) => {
      if (current === undefined) return
      const text = links.get(current) ?? ''
      if (text.length < maxTextLength) links.set(current, text + words)
    },
    close: (name) => {
      if (name === 'a') current = undefined
    },
  })
  return [...links].map(([url, text]) => ({ url, text: text.replaceAll(/\s+/g, ' ').trim().slice(0, maxTextLength) }))
}
