import { eventTypes } from '../src/outbox/catalog.ts'
import type { EventDefinition } from '../src/outbox/define.ts'

const begin = '<!-- event types: generated from src/outbox/catalog.ts by `npm run generate` -->'
const end = '<!-- /event types -->'

const typeTable = (): string => {
  const rows = (Object.entries(eventTypes) as [string, EventDefinition][]).map(
    ([type, { description, data }]) =>
      `| \`${type}\` | ${description.replaceAll('|', String.raw`\|`)} | ${Object.keys(data.properties)
        .map((name) => `\`${name}\``)
        .join(', ')} |`,
  )
  return ['| type | when | data |', '|---|---|---|', ...rows].join('\n')
}

/** The guide on events with its table of types generated from the catalog. */
export const withEventTypes = (guide: string): string => {
  const from = guide.indexOf(begin)
  const to = guide.indexOf(end)
  if (from === -1 || to === -1) throw new Error('docs/guides/events.md has no place for the table of types')
  return `${guide.slice(0, from + begin.length)}\n\n${typeTable()}\n\n${guide.slice(to)}`
}
