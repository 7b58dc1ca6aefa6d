import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))
const suite = pathOf('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js')
const client = pathOf('../../../test/fakes/mcp-client.ts')
const results = mkdtempSync(join(tmpdir(), 'atrium-conformance-'))
after(() => rmSync(results, { recursive: true }))

const runSuite = (revision: string): Promise<{ code: number; output: string }> => {
  const options = ['--requirements', revision, '-o', join(results, revision)]
  const command = `${process.execPath} ${client}`
  const args = [suite, 'client', '--command', command, '--timeout', '120000', ...options]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 400_000, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr })
    })
  })
}

for (const revision of ['2025-11-25', '2026-07-28']) {
  test(`the client of MCP servers conforms to the revision ${revision}`, async () => {
    const { code, output } = await runSuite(revision)
    assert.equal(code, 0, output.slice(-20_000))
    assert.match(output, /✓ tools_call/)
  })
}
