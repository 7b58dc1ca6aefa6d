import { variables } from '../src/config/config.ts'
import type { Variable } from '../src/config/values.ts'
import { connectorVariables } from '../src/config/connectors.ts'
import { providerVariables } from '../src/config/providers.ts'

const entries = Object.entries({ ...variables, ...providerVariables, ...connectorVariables }) as [
  string,
  Omit<Variable, 'parse'>,
][]

const begin = '<!-- configuration: generated from src/config/config.ts by `npm run generate` -->'
const end = '<!-- /configuration -->'

const configTable = (): string => {
  const rows = entries.map(([name, { fallback, description }]) => {
    const shown = fallback === '' ? '' : `\`${fallback}\``
    return `| \`${name}\` | ${shown} | ${description.replaceAll('|', String.raw`\|`)} |`
  })
  return ['| variable | default | what it does |', '|---|---|---|', ...rows].join('\n')
}

/** The guide with its table of variables generated from config.ts. */
export const withConfigTable = (guide: string): string => {
  const from = guide.indexOf(begin)
  const to = guide.indexOf(end)
  if (from === -1 || to === -1) throw new Error('docs/guides/configuration.md has no place for the table of variables')
  return `${guide.slice(0, from + begin.length)}\n\n${configTable()}\n\n${guide.slice(to)}`
}

/** `.env.example`: every variable, commented out, with its default. */
export const envExample = (): string =>
  [
    '# All variables are optional: Atrium runs without this file. Copy it to .env and remove the # before each variable that you set.',
    ...entries.map(
      ([name, { fallback, description }]) => `\n# ${description.replaceAll('`', '')}\n#${name}=${fallback}`,
    ),
    '',
  ].join('\n')
