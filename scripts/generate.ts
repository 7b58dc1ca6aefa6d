// `npm run generate` writes the files that are generated from the code; with `--check` it fails when one is outdated.
// It registers all routes and needs no database.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseConfig } from '../src/config/config.ts'
import { openDeps } from '../src/deps.ts'
import { createLog } from '../src/platform/process/log.ts'
import { createSealer } from '../src/platform/encryption/secrets.ts'
import { buildServer } from '../src/server.ts'
import { manifestsText } from './helm/chart.ts'
import { envExample, withConfigTable } from './config-docs.ts'
import { withEventTypes } from './event-docs.ts'
import { openApiOf } from './openapi/openapi.ts'
import type { OpenApi } from './openapi/openapi.ts'
import { pythonTypes } from './openapi/python-types.ts'
import { imageTypesText } from './image-types.ts'
import { sdkIdempotentRoutes, sdkTypes } from './openapi/sdk-types.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The OpenAPI document of the server's routes, which are registered without a database connection. */
const openApiDocument = async (): Promise<OpenApi> => {
  const log = createLog('silent')
  const unused = createSealer([{ id: 'unused', key: Buffer.alloc(32) }])
  const opened = await openDeps(parseConfig({ NODE_ENV: 'test' }), { host: '/nowhere' }, log, { secrets: unused })
  const app = await buildServer(opened.deps)
  try {
    return await openApiOf(app.routeTable)
  } finally {
    await app.close()
    await opened.close()
  }
}

export const openApiText = async (): Promise<string> => `${JSON.stringify(await openApiDocument(), null, 2)}\n`

/** Every generated file, and the function from its current to its new content. */
const files: Record<string, (current: string) => string | Promise<string>> = {
  'docs/openapi.json': openApiText,
  'sdk/src/types.ts': async () => sdkTypes(await openApiDocument()),
  'sdk/src/idempotent-routes.ts': async () => sdkIdempotentRoutes(await openApiDocument()),
  'sdk-python/atrium_client/types.py': async () => pythonTypes(await openApiDocument()),
  'console/src/pages/files/views/image-types.ts': imageTypesText,
  'docs/guides/configuration.md': withConfigTable,
  '.env.example': envExample,
  'docs/guides/events.md': withEventTypes,
  'deploy/kubernetes/atrium.yaml': manifestsText,
}

/** Writes the outdated files, or with `check` only lists them. */
export const generate = async (check: boolean): Promise<string[]> => {
  const stale: string[] = []
  for (const [name, make] of Object.entries(files)) {
    const current = await readFile(root + name, 'utf8').catch(() => '')
    const made = await make(current)
    if (made === current) continue
    stale.push(name)
    if (!check) await writeFile(root + name, made)
  }
  return stale
}

if (import.meta.main) {
  const check = process.argv.includes('--check')
  const stale = await generate(check)
  for (const name of stale) console.log(check ? `${name} is stale: run npm run generate` : `wrote ${name}`)
  if (check && stale.length > 0) process.exitCode = 1
}
