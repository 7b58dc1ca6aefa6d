import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startTestApp } from '../../../test/harness.ts'
import { createSignInLink } from '../sign-in/links.ts'

const app = await startTestApp()
const suite = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
)

const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Consents to the request like a person in a browser, and opens the URL with the result. */
const consent = async (request: string): Promise<void> => {
  const person = await app.createOrg()
  const { userId } = person
  const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, userId, null))
  const signedIn = await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token: path.split('=')[1] } })
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const headers = { cookie, origin: app.url, ...(await app.stepUp(person)) }
  const json = { request, approved: true }
  const decided = await app.call('POST', '/api/v1/apps/authorization', { json, headers })
  assert.equal(decided.status, 200, decided.text)
  await fetch(decided.body.data.redirectTo as string)
}

const runSuite = async (): Promise<{ code: number | null; output: string }> => {
  const port = await freePort()
  const registration = { redirect_uris: [`http://127.0.0.1:${port}/callback`] }
  const { body } = await app.call('POST', '/oauth/register', { json: registration })
  const options = ['--client-id', body.client_id as string, '--resource', `${app.url}/mcp`, '--port', String(port)]
  const args = [suite, 'authorization', '--url', app.url, ...options]
  const child = spawn(process.execPath, args, { timeout: 120_000, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let consented: Promise<void> | undefined
  const read = (chunk: Buffer): void => {
    output += chunk.toString()
    const request = /\/authorize\?(\S+)\s/.exec(output)?.[1]
    if (request !== undefined) consented ??= consent(request)
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  await consented
  return { code, output }
}

test('conforms to every scenario of the official suite for authorization servers', async () => {
  const { code, output } = await runSuite()
  assert.equal(code, 0, output.slice(-20_000))
  for (const scenario of ['authorization-server-metadata-endpoint', 'authorization-code-grant']) {
    assert.ok(output.includes(scenario), output)
  }
  assert.doesNotMatch(output, /FAILURE|SKIPPED|[1-9]\d* failed/)
})
