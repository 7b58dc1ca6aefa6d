// Whether the reference names every answer that the tests get.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

type Operations = Record<string, { responses: Record<string, unknown> } | undefined>

const reference = new URL('../../docs/openapi.json', import.meta.url)
const { paths } = JSON.parse(readFileSync(reference, 'utf8')) as { paths: Record<string, Operations> }
// A path without parameters goes before one with them.
const templates = Object.entries(paths)
  .toSorted(([a], [b]) => a.split('{').length - b.split('{').length)
  .map(([path, operations]) => ({ pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), path, operations }))

// Not said of each GET with an ETag that it may answer it.
const notModified = 304

const undocumented = new Set<string>()

export const assertDocumented = (): void =>
  assert.deepEqual([...undocumented], [], 'the reference names every answer (config.errors of the route)')

/** Notes an answer that the reference does not know; the file that got one fails at its end. */
export const noteAnswer = (method: string, path: string, status: number): void => {
  const [bare = ''] = path.split(/[?#]/)
  const found = templates.find(({ pattern }) => pattern.test(bare))
  const responses = found?.operations[method.toLowerCase()]?.responses
  if (!found || !responses || status === notModified || String(status) in responses) return
  undocumented.add(`${method} ${found.path} ${status}`)
}
