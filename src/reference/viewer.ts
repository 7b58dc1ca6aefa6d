import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { gzip } from 'node:zlib'

const entry = new URL(import.meta.resolve('@scalar/fastify-api-reference'))

/** The version of the viewer, which names its script for the browser's cache. */
export const viewerVersion = async (): Promise<string> => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', entry), 'utf8')) as { version: string }
  return version
}

/**
 * Scalar's browser script, gzipped. Its Fastify plugin carries the 4.3 MB as a string in its module; importing that
 * would put it into the memory of every server, whether anybody ever reads the reference or not. So the string is cut
 * out of the file when the first reader comes, and 1 MB of it stays.
 */
export const gzippedViewer = async (): Promise<Buffer> => {
  const source = await readFile(fileURLToPath(entry), 'utf8')
  const [, literal] = /^var standalone_default = (".*");$/m.exec(source) ?? []
  // A literal of JavaScript, with escapes that JSON does not have; nothing but the literal is evaluated.
  const script: unknown = literal === undefined ? undefined : runInNewContext(literal)
  if (typeof script !== 'string') throw new Error('@scalar/fastify-api-reference has another form than it had')
  return promisify(gzip)(script, { level: 6 })
}
