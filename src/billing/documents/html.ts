import { createHash } from 'node:crypto'
import type { PrintedDocument, PrintedParty, PrintedTable } from './document.ts'

// The colors of console/src/styles/tokens.css; on paper always those of the light theme.
const style = `
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; --text: light-dark(#1b1b1f, #ececef); --muted: light-dark(#5c5c66, #a3a3ae); --line: light-dark(#e7e7e4, #303036); --surface: light-dark(#ffffff, #17171a) }
* { box-sizing: border-box }
body { margin: 0; color: var(--text); background: light-dark(#f7f7f6, #101012) }
main { max-width: 52rem; margin: 32px auto; padding: 48px; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); overflow-wrap: anywhere }
header { display: flex; flex-wrap: wrap; gap: 4px 24px; align-items: baseline; justify-content: space-between; margin-bottom: 24px }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2 }
h2 { margin: 32px 0 8px; font-size: 1.05rem }
p { margin: 0 0 8px }
.issuer { font-size: 1.1rem; font-weight: 600; color: var(--muted) }
.muted, .notes { color: var(--muted) }
.notice { margin: 0 0 24px; padding: 10px 14px; border: 1px solid light-dark(#ecd9a6, #4d4020); border-radius: 8px; color: light-dark(#75510a, #eac97a); background: light-dark(#fdf6e3, #272112) }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 2px 20px; margin: 0 0 24px }
.facts dt { font-weight: 600 }
.facts dd { margin: 0 }
.parties { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 24px; margin-bottom: 28px }
.parties strong, .parties span { display: block }
.headline { margin: 0 0 8px; font-size: 1.3rem; font-weight: 650 }
.scroll { overflow-x: auto }
.scroll:focus-visible { outline: 2px solid light-dark(#6366f1, #8b83ff); outline-offset: 2px }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
th { padding: 6px 12px 6px 0; border-bottom: 1px solid var(--text); font-size: .8rem; font-weight: 500; text-align: start; color: var(--muted) }
td { padding: 7px 12px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top }
th:last-child, td:last-child { padding-inline-end: 0 }
.end { text-align: end; white-space: nowrap }
td:first-child { min-width: 9rem }
.total td { font-weight: 650 }
.notes { margin-top: 32px; font-size: .85rem }
@media (max-width: 40rem) { main { margin: 0; padding: 24px 16px; border: 0; border-radius: 0 } }
@media print { :root { color-scheme: light } body { background: none } main { max-width: none; margin: 0; padding: 0; border: 0 } thead { display: table-header-group } tr { break-inside: avoid } .scroll { overflow: visible } }
@page { size: A4; margin: 18mm }
`

/** The policy of the pages: no scripts, nothing from elsewhere, no frames. */
export const documentPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  'sandbox',
].join('; ')

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? '')

/** A text whose direction does not change that of the text around it. */
const isolated = (text: string): string => `<bdi>${escape(text)}</bdi>`

const partyOf = ({ label, lines: [name = '', ...rest] }: PrintedParty): string =>
  `<div><span class="muted">${escape(label)}</span><strong>${isolated(name)}</strong>${rest.map((line) => `<span>${isolated(line)}</span>`).join('')}</div>`

const tableOf = ({ title, columns, rows }: PrintedTable): string => {
  const classOf = (index: number): string => (columns[index]?.align === 'end' ? ' class="end"' : '')
  const head = columns.map((column, index) => `<th scope="col"${classOf(index)}>${escape(column.title)}</th>`)
  const body = rows.map(
    ({ cells, isTotal }) =>
      `<tr${isTotal ? ' class="total"' : ''}>${cells.map((cell, index) => `<td${classOf(index)}>${isolated(cell)}</td>`).join('')}</tr>`,
  )
  return `<section><h2>${escape(title)}</h2>
<div class="scroll" role="region" aria-label="${escape(title)}" tabindex="0"><table>
<thead><tr>${head.join('')}</tr></thead>
<tbody>
${body.join('\n')}
</tbody></table></div></section>`
}

/** The document as a page without scripts. */
export const htmlOf = (document: PrintedDocument): string => {
  const { language, title, issuer, notice, facts, parties, headline, tables, notes, footer } = document
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${escape(footer)}</title>
<style>${style}</style>
</head>
<body>
<main>
<header><h1>${escape(title)}</h1><span class="issuer">${isolated(issuer)}</span></header>
${notice === null ? '' : `<p class="notice">${escape(notice)}</p>\n`}<dl class="facts">${facts.map(([label, value]) => `<dt>${escape(label)}</dt><dd>${isolated(value)}</dd>`).join('')}</dl>
<div class="parties">${parties.map(partyOf).join('')}</div>
<p class="headline">${escape(headline)}</p>
${tables.map(tableOf).join('\n')}
<div class="notes">${notes.map((note) => `<p>${escape(note)}</p>`).join('')}</div>
</main>
</body>
</html>
`
}
