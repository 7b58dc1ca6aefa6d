import { createHash } from 'node:crypto'
import type { Language } from '../../platform/text/languages.ts'
import type { PreviewPayload } from '../preview/payload.ts'
import { deceptive } from '../tree/names.ts'
import type { OpenShare, SharedItem } from './queries.ts'
import { sizeIn, texts } from './texts.ts'

// The colors of console/src/styles/tokens.css.
const style = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; --text: light-dark(#1b1b1f, #ececef); --muted: light-dark(#5c5c66, #a3a3ae); --line: light-dark(#e7e7e4, #28282d); --surface: light-dark(#ffffff, #17171a); --accent: light-dark(#4f46e5, #645aea); --link: light-dark(#4338ca, #a9a3ff); --ring: light-dark(#6366f1, #8b83ff); --bad: light-dark(#b4232a, #ff8a85) }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; color: var(--text); background: light-dark(#f7f7f6, #101012) }
main { max-width: 60rem; margin: 0 auto; padding: 32px 16px }
main.narrow { max-width: 26rem; padding-top: 12vh }
header { display: flex; flex-wrap: wrap; gap: 12px; align-items: center; justify-content: space-between; margin-bottom: 16px }
h1 { margin: 0; font-size: 1.35rem; line-height: 1.3; overflow-wrap: anywhere }
p { margin: 0 0 12px }
form > p { margin: 4px 0 20px }
.muted { color: var(--muted) }
.error { color: var(--bad) }
a { color: var(--link) }
.button { display: inline-block; padding: 9px 18px; border: 0; border-radius: 8px; font: inherit; font-weight: 600; text-decoration: none; color: #fff; background: var(--accent); cursor: pointer }
a:focus-visible, input:focus-visible, .button:focus-visible, pre:focus-visible { outline: 2px solid var(--ring); outline-offset: 2px }
.card { padding: 20px; border: 1px solid var(--line); border-radius: 12px; background: var(--surface) }
label { display: block; margin-bottom: 4px; font-weight: 600 }
input[type=password], input[type=file] { width: 100%; margin-bottom: 16px; padding: 9px 12px; border: 1px solid var(--line); border-radius: 8px; font: inherit; color: inherit; background: transparent }
input::file-selector-button { margin-right: 12px; padding: 4px 12px; border: 1px solid var(--line); border-radius: 6px; font: inherit; color: inherit; background: var(--surface); cursor: pointer }
ul { margin: 0; padding: 0; list-style: none }
li { display: flex; gap: 16px; justify-content: space-between; padding: 10px 4px; border-top: 1px solid var(--line); overflow-wrap: anywhere }
li:first-child { border-top: 0 }
li span { flex: none }
.shown { display: block; max-width: 100%; max-height: 75vh; margin: 0 auto; border: 0; border-radius: 8px }
iframe.shown { width: 100%; height: 75vh; max-height: none }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.6 ui-monospace, monospace }
.prose { font: inherit }
.scroll { overflow: auto }
table { border-collapse: collapse; font-size: 13px }
td { padding: 4px 10px; border: 1px solid var(--line); vertical-align: top }
nav { display: flex; gap: 16px; margin-top: 16px }
.org { display: flex; gap: 10px; align-items: center; margin-bottom: 24px; color: var(--muted); font-weight: 600; overflow-wrap: anywhere }
.org img { flex: none; border-radius: 8px }
`

const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`

/**
 * The policy of the pages: no scripts, and nothing from elsewhere. `contentOrigin`: where files are displayed from, if not
 * from this server.
 */
export const pagePolicy = (contentOrigin: string | undefined): string => {
  const from = contentOrigin ?? "'self'"
  // The logo of the org is on this server.
  const pictures = contentOrigin === undefined ? from : `'self' ${from}`
  return [
    "default-src 'none'",
    `style-src ${styleHash}`,
    `img-src ${pictures}`,
    `media-src ${from}`,
    `frame-src ${from}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? '')

/** A name in which characters are visible by which it could look like another one. */
const named = (text: string): string => escape(text.replaceAll(deceptive, '\uFFFD'))

/** How the pages of a visitor look. */
export interface PageLook {
  language: Language
  /** The org of the share. Undefined for a visitor who has not been admitted. */
  org?: { name: string; logo: string | null }
}

const brandOf = ({ org }: PageLook): string => {
  if (org === undefined) return ''
  const logo = org.logo === null ? '' : `<img src="${escape(org.logo)}?size=64" alt="" width="32" height="32">`
  return `<div class="org">${logo}<span>${named(org.name)}</span></div>`
}

/** `about`: what link previews show; without the name of a file whose share has a password. */
const pageOf = ({ language }: PageLook, title: string, content: string, about: string): string => `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta property="og:type" content="website">
<meta property="og:site_name" content="Atrium">
<meta property="og:title" content="${named(about)}">
<title>${named(title)} · Atrium</title>
<style>${style}</style>
</head>
<body>
${content}
</body>
</html>
`

/** A page with a message only. `text` contains nothing of a share. */
export const messagePage = (look: PageLook, title: string, text: string): string =>
  pageOf(
    look,
    title,
    `<main class="narrow"><h1>${named(title)}</h1><p class="muted">${escape(text)}</p></main>`,
    texts[look.language].shared,
  )

/** Asks for the password. It contains nothing of the share. */
export const passwordPage = (look: PageLook, token: string, isWrong: boolean): string => {
  const t = texts[look.language]
  return pageOf(
    look,
    t.passwordRequired,
    `<main class="narrow"><form class="card" method="post" action="/s/${escape(token)}/password">
<h1>${t.passwordRequired}</h1>
<p class="muted">${t.enterPassword}</p>
${isWrong ? `<p class="error" role="alert">${t.wrongPassword}</p>` : ''}
<label for="password">${t.password}</label>
<input id="password" name="password" type="password" required autocomplete="off">
<button class="button" type="submit">${t.next}</button>
</form></main>`,
    t.shared,
  )
}

/** What the links of a page need. */
export interface PageLinks {
  token: string
  access: string | undefined
  /** The origin that files are displayed from; empty for this one. */
  contentOrigin: string
}

const queryOf = (values: Record<string, string | undefined>): string => {
  const set = Object.entries(values).filter((one): one is [string, string] => one[1] !== undefined)
  return set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`
}

const homeUrl = ({ token, access }: PageLinks, more: Record<string, string | undefined> = {}): string =>
  escape(`/s/${token}${queryOf({ ...more, access })}`)

const imageUrl = ({ token, access }: PageLinks, id: string): string =>
  escape(`/s/${token}/files/${id}/image${queryOf({ access })}`)

const bytesUrl = ({ token, access, contentOrigin }: PageLinks, id: string, download: boolean): string => {
  const origin = download ? '' : contentOrigin
  return escape(`${origin}/s/${token}/files/${id}${queryOf({ download: download ? 'true' : undefined, access })}`)
}

const aboutOf = ({ language }: PageLook, share: OpenShare, name: string): string =>
  share.hasPassword ? texts[language].shared : name

const archiveUrl = ({ token, access }: PageLinks, id: string): string =>
  escape(`/s/${token}/archive${queryOf({ item: id, access })}`)

const downloadButton = ({ language }: PageLook, share: OpenShare, links: PageLinks, item: SharedItem): string => {
  const { download, downloadAll, downloadsReached } = texts[language]
  if (share.permission !== 'download') return ''
  if (share.maxDownloads !== null && share.downloads >= share.maxDownloads) {
    return `<p class="muted">${downloadsReached}</p>`
  }
  return item.source === 'folder'
    ? `<a class="button" href="${archiveUrl(links, item.id)}">${downloadAll}</a>`
    : `<a class="button" href="${bytesUrl(links, item.id, true)}">${download}</a>`
}

const shownTypes: [pattern: RegExp, tag: (url: string, name: string) => string][] = [
  [/^image\/(?:png|jpeg|gif|webp|avif|bmp)$/, (url, name) => `<img class="shown" src="${url}" alt="${named(name)}">`],
  [/^video\//, (url, name) => `<video class="shown" src="${url}" controls aria-label="${named(name)}"></video>`],
  [/^audio\//, (url, name) => `<audio src="${url}" controls aria-label="${named(name)}"></audio>`],
  [/^application\/pdf$/, (url, name) => `<iframe class="shown" src="${url}" title="${named(name)}"></iframe>`],
]

/** Whether a browser displays files of this type itself. */
export const isDisplayed = (mimeType: string): boolean => shownTypes.some(([pattern]) => pattern.test(mimeType))

const maxRows = 200
const maxColumns = 30

const previewOf = ({ language }: PageLook, { kind, text, sheets }: PreviewPayload): string => {
  if (sheets === undefined) {
    return `<pre${kind === 'document' ? ' class="prose"' : ''} tabindex="0">${escape(text ?? '')}</pre>`
  }
  const rows = (sheets[0]?.rows ?? []).slice(0, maxRows)
  const cells = rows.map(
    (row) =>
      `<tr>${row
        .slice(0, maxColumns)
        .map((cell) => `<td>${escape(cell)}</td>`)
        .join('')}</tr>`,
  )
  return `<div class="scroll" tabindex="0" role="region" aria-label="${texts[language].content}"><table>${cells.join('')}</table></div>`
}

export interface FilePage {
  item: SharedItem
  /** Of a text, document or spreadsheet. */
  preview: PreviewPayload | undefined
  /** Whether the browser displays the bytes, or an image that is made of them. */
  displays: 'bytes' | 'image' | undefined
}

/** The page of a file, with a link back to the folder when the folder is shared. */
export const filePage = (
  look: PageLook,
  share: OpenShare,
  links: PageLinks,
  { item, preview, displays }: FilePage,
): string => {
  const { noPreview, allFiles } = texts[look.language]
  const type = item.mimeType ?? ''
  const tag = displays === 'bytes' ? shownTypes.find(([pattern]) => pattern.test(type))?.[1] : undefined
  const content = tag
    ? tag(bytesUrl(links, item.id, false), item.name)
    : displays === 'image'
      ? `<img class="shown" src="${imageUrl(links, item.id)}" alt="${named(item.name)}">`
      : preview
        ? `<div class="card">${previewOf(look, preview)}</div>`
        : `<p class="card muted">${noPreview}</p>`
  const back = item.id === share.fileId ? '' : `<nav><a href="${homeUrl(links)}">${allFiles}</a></nav>`
  return pageOf(
    look,
    item.name,
    `<main>${brandOf(look)}<header><div><h1>${named(item.name)}</h1><p class="muted">${sizeIn(look.language, item.size)}</p></div>${downloadButton(look, share, links, item)}</header>
${content}${back}</main>`,
    aboutOf(look, share, item.name),
  )
}

export interface FolderPage {
  folder: SharedItem
  items: readonly SharedItem[]
  page: number
  hasMore: boolean
}

/** The page of a shared folder, or of one that is in it. */
export const folderPage = (
  look: PageLook,
  share: OpenShare,
  links: PageLinks,
  { folder, items, page, hasMore }: FolderPage,
): string => {
  const t = texts[look.language]
  const rows = items.map(
    (item) =>
      `<li><a href="${homeUrl(links, { item: item.id })}">${named(item.name)}${item.source === 'folder' ? '/' : ''}</a><span class="muted">${item.source === 'folder' ? t.folder : sizeIn(look.language, item.size)}</span></li>`,
  )
  const pageUrl = (number: number): string => homeUrl(links, { item: folder.id, page: String(number) })
  const nav = [
    folder.id === share.fileId ? '' : `<a href="${homeUrl(links)}">${t.allFiles}</a>`,
    page > 1 ? `<a href="${pageUrl(page - 1)}">${t.previousPage}</a>` : '',
    hasMore ? `<a href="${pageUrl(page + 1)}">${t.nextPage}</a>` : '',
  ].join('')
  return pageOf(
    look,
    folder.name,
    `<main>${brandOf(look)}<header><h1>${named(folder.name)}</h1>${rows.length === 0 ? '' : downloadButton(look, share, links, folder)}</header>
<div class="card">${rows.length === 0 ? `<p class="muted">${t.emptyFolder}</p>` : `<ul>${rows.join('')}</ul>`}</div>
<nav>${nav}</nav></main>`,
    aboutOf(look, share, folder.name),
  )
}

/** The page of a drop box. `uploaded`: the last request has stored a file. */
export const uploadPage = (
  look: PageLook,
  share: OpenShare,
  { token, access }: PageLinks,
  uploaded: boolean,
): string => {
  const t = texts[look.language]
  const rules = [
    ...(look.org === undefined ? [] : [t.uploadTo(look.org.name)]),
    t.atMost(sizeIn(look.language, share.maxFileBytes ?? 104_857_600)),
    ...(share.allowedTypes === null ? [] : [t.types(share.allowedTypes.join(', '))]),
  ].join(' ')
  return pageOf(
    look,
    t.uploadFile,
    `<main class="narrow">${brandOf(look)}<form class="card" method="post" enctype="multipart/form-data" action="${escape(`/s/${token}/uploads${queryOf({ access })}`)}">
<h1>${t.uploadFile}</h1>
<p class="muted">${escape(rules)}</p>
${uploaded ? `<p role="status">${t.uploaded}</p>` : ''}
<label for="file">${t.file}</label>
<input id="file" name="file" type="file" required>
<button class="button" type="submit">${t.upload}</button>
</form></main>`,
    t.shared,
  )
}
