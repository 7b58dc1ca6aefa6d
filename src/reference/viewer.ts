import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { gzip } from 'node:zlib'

const entry = new URL(import.meta.resolve('@scalar/fastify-api-reference'))

/** The version of the viewer, which is part of its URL for caching. */
export const viewerVersion = async (): Promise<string> => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', entry), 'utf8')) as { version: string }
  return version
}

/**
 * Scalar's browser script, gzipped. Its Fastify plugin contains the script as a string of 4.3 MB, and importing it would
 * use that memory in every server. So the string is extracted from the file at the first request and kept gzipped (1 MB).
 */
export const gzippedViewer = async (): Promise<Buffer> => {
  const source = await readFile(fileURLToPath(entry), 'utf8')
  const [, literal] = /^var standalone_default = (".*");$/m.exec(source) ?? []
  // A JavaScript literal with escapes that JSON does not have. Only the literal is evaluated.
  const script: unknown = literal === undefined ? undefined : runInNewContext(literal)
  if (typeof script !== 'string') throw new Error('@scalar/fastify-api-reference has changed its format')
  return promisify(gzip)(script, { level: 6 })
}
