import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { runScenario } from '../../../test/fakes/mcp-client.ts'
import type { Scenario } from '../../../test/fakes/mcp-client.ts'
import { foreignEnv } from '../../../test/support/child-processes.ts'

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))
const suite = pathOf('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js')
const client = pathOf('../../../test/fakes/mcp-client-command.mjs')
const results = mkdtempSync(join(tmpdir(), 'atrium-mcp-'))
const socket = join(results, 'clients')
let scenarios = 0

/** Runs the client for a command that the suite starts, and answers with its error. */
const answer = async (connection: Socket): Promise<void> => {
  try {
    for await (const line of createInterface(connection)) {
      const { url, scenario } = JSON.parse(line) as { url: string; scenario: Scenario }
      await runScenario(url, scenario)
      scenarios += 1
      connection.end('done')
    }
  } catch (error) {
    connection.end(inspect(error))
  }
}
const clients = createServer((connection) => void answer(connection)).listen(socket)
after(() => {
  clients.close()
  rmSync(results, { recursive: true })
})

const runSuite = (revision: string): Promise<{ code: number; output: string }> => {
  const options = ['--requirements', revision, '-o', join(results, revision)]
  const command = `${process.execPath} ${client} ${socket}`
  const args = [suite, 'client', '--command', command, '--timeout', '120000', ...options]
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { env: foreignEnv, timeout: 400_000, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr })
      },
    )
  })
}

for (const revision of ['2025-11-25', '2026-07-28']) {
  test(`the client of MCP servers conforms to the revision ${revision}`, async () => {
    scenarios = 0
    const { code, output } = await runSuite(revision)
    assert.equal(code, 0, output.slice(-20_000))
    assert.ok(scenarios > 10, `${scenarios} scenarios`)
    assert.match(output, /✓ tools_call/)
  })
}
