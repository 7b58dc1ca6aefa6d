// The website of the documents. `scripts/docs.ts` writes them to `pages`.
import { readFileSync } from 'node:fs'

const titleOf = (page) => /^# (.+)$/m.exec(readFileSync(new URL(`../pages/${page}.md`, import.meta.url), 'utf8'))?.[1]

const item = (page) => ({
  text: page === 'index' ? 'Overview' : titleOf(page),
  link: page === 'index' ? '/' : `/${page}`,
})

/** Diagrams are drawn in the browser. */
const withDiagrams = (md) => {
  const { fence } = md.renderer.rules
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest)
    return `<Diagram code="${Buffer.from(content).toString('base64')}" />`
  }
}

/** Header cells without text become data cells, because screen readers announce headers. */
const withoutEmptyHeaders = (md) => {
  md.core.ruler.push('empty-headers', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type !== 'th_open' || tokens[index + 1].content.trim() !== '') continue
      token.tag = 'td'
      tokens[index + 2].tag = 'td'
    }
  })
}

export default {
  title: 'Atrium',
  description: 'Files, agents, webhooks, billing and connectors behind one HTTP JSON API',
  base: '/docs/guides/',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: '.cache',
  cleanUrls: true,
  metaChunk: true,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    config: (md) => {
      withDiagrams(md)
      withoutEmptyHeaders(md)
    },
    // The default themes have comments with a contrast below 4.5.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite: { publicDir: false, build: { chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      { text: 'Start', items: ['index', 'configuration', 'conventions', 'console'].map(item) },
      {
        text: 'Tutorials',
        items: ['ollama', 'slack', 'stripe', 'chat-page', 'nginx'].map((name) => item(`tutorials/${name}`)),
      },
      {
        text: 'Guides',
        items: [
          'identity',
          'files',
          'agents',
          'connectors',
          'webhooks',
          'events',
          'billing',
          'protocols',
          'webdav',
        ].map(item),
      },
      { text: 'Operation', items: ['operations', 'scaling'].map(item) },
      {
        text: 'Background',
        items: ['architecture', 'security', 'benchmarks', 'changelog', 'sdk', 'sdk-python'].map(item),
      },
    ],
  },
}
