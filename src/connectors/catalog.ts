import { readdir } from 'node:fs/promises'
import { checkConnector } from './check-connector.ts'
import type { Connector } from './definition.ts'

/** Every file of the folder is one connector, found by being there. Throws for one that is not as it should be. */
const load = async (): Promise<ReadonlyMap<string, Connector>> => {
  const folder = new URL('catalog/', import.meta.url)
  const files = (await readdir(folder)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const loaded = await Promise.all(
    files.toSorted().map(async (file) => {
      const module = (await import(new URL(file, folder).href)) as { connector?: Connector }
      return checkConnector(file, module.connector)
    }),
  )
  return new Map(loaded.map((connector) => [connector.slug, connector]))
}

/** All connectors by their slug, in its order. */
export const catalog = await load()
