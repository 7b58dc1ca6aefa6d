// The child process that reads one HTML page. Its input is a line of JSON (PageQuestion) and the page in UTF-8; its output
// is JSON.
import { text as readAll } from 'node:stream/consumers'
import { linksOf } from '../text/html-links.ts'
import { htmlToText } from '../text/html-text.ts'

export interface PageQuestion {
  kind: 'text' | 'links'
  /** The address of the page, for its relative links. */
  base: string
}

const whole = await readAll(process.stdin)
const end = whole.indexOf('\n')
const { kind, base } = JSON.parse(whole.slice(0, end)) as PageQuestion
const html = whole.slice(end + 1)
const answer = kind === 'text' ? htmlToText(html, base) : linksOf(html, base)

process.stdout.end(JSON.stringify(answer), () => process.exit(0))
