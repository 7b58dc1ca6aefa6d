import { readdir } from 'node:fs/promises'
import type { Connector } from './definition.ts'

const folder = new URL('definitions/', import.meta.url)
const files = (await readdir(folder)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).toSorted()

/** Every file of the folder is one connector, found by being there. */
const loaded = await Promise.all(
  files.map(async (file): Promise<[string, Connector]> => {
    const { connector } = (await import(new URL(file, folder).href)) as { connector?: Connector }
    if (connector === undefined) throw new Error(`src/connectors/catalog/definitions/${file}: no connector`)
    return [file, connector]
  }),
)

/** All connectors by their slug, in its order. */
export const catalog: ReadonlyMap<string, Connector> = new Map(
  loaded.map(([, connector]) => [connector.slug, connector]),
)

/** Throws for a connector that is not as it should be. The server does not start with one. */
export const checkCatalog = async (): Promise<void> => {
  // Commands read the catalog for the names of variables, and need none of what it takes to check it.
  const { checkConnector } = await import('./check-connector.ts')
  for (const [file, connector] of loaded) checkConnector(file, connector)
}
