// Checks that the API reference lists the status of every response in the tests.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

type Operations = Record<string, { responses: Record<string, unknown> } | undefined>

const reference = new URL('../../docs/openapi.json', import.meta.url)
const { paths } = JSON.parse(readFileSync(reference, 'utf8')) as { paths: Record<string, Operations> }
// A path without parameters takes precedence over one with parameters.
const templates = Object.entries(paths)
  .toSorted(([a], [b]) => a.split('{').length - b.split('{').length)
  .map(([path, operations]) => ({ pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), path, operations }))

// The reference lists neither the response to each GET with an ETag nor that to a request that arrives too slowly, which
// the HTTP server sends itself.
const everywhere = new Set([304, 408])

const undocumented = new Set<string>()

export const assertDocumented = (): void =>
  assert.deepEqual([...undocumented], [], 'the reference lists every response (config.errors of the route)')

/** Records a response that the reference does not list, which fails the test file at its end. */
export const noteAnswer = (method: string, path: string, status: number): void => {
  const [bare = ''] = path.split(/[?#]/)
  const found = templates.find(({ pattern }) => pattern.test(bare))
  const responses = found?.operations[method.toLowerCase()]?.responses
  if (!found || !responses || everywhere.has(status) || String(status) in responses) return
  undocumented.add(`${method} ${found.path} ${status}`)
}
