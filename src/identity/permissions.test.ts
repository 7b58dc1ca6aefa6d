import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newId } from '../platform/ids.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'

const app = await startTestApp({ RATE_LIMIT_KEY_MINTING: '0', RATE_LIMIT_WRITES: '0', RATE_LIMIT_READS: '0' })

const owner = await app.createOrg()
const admin = await app.createUser(owner, 'admin')
const billingManager = await app.createUser(owner, 'billing_manager')
const member = await app.createUser(owner, 'member')
const everyone = { owner, admin, billing_manager: billingManager, member }
type RoleName = keyof typeof everyone

const all: RoleName[] = ['owner', 'admin', 'billing_manager', 'member']
const managers: RoleName[] = ['owner', 'admin']

/** Every route of identity that is not public, and the roles that may call it. */
const table: [method: string, path: string, roles: RoleName[]][] = [
  ['GET', '/me', all],
  ['PATCH', '/me', all],
  ['GET', '/org', all],
  ['PATCH', '/org', managers],
  ['GET', '/org/logo', all],
  ['PUT', '/org/logo', managers],
  ['DELETE', '/org/logo', managers],
  ['GET', '/workspaces', all],
  ['POST', '/workspaces', managers],
  ['GET', '/workspaces/:id', all],
  ['PATCH', '/workspaces/:id', managers],
  ['DELETE', '/workspaces/:id', managers],
  ['GET', '/workspaces/:id/members', all],
  ['POST', '/workspaces/:id/members', managers],
  ['DELETE', '/workspaces/:id/members/:userId', managers],
  ['GET', '/members', all],
  ['POST', '/members', managers],
  ['GET', '/members/:id', all],
  ['PATCH', '/members/:id', managers],
  ['DELETE', '/members/:id', managers],
  ['POST', '/members/:id/sign-in-link', managers],
  ['GET', '/api-keys', all],
  ['POST', '/api-keys', all],
  ['DELETE', '/api-keys/:id', all],
  ['GET', '/audit-log', managers],
  ['GET', '/audit-log/export', managers],
  ['POST', '/auth/step-up', all],
  ['POST', '/auth/password', all],
  ['POST', '/auth/two-factor', all],
  ['POST', '/auth/two-factor/confirm', all],
  ['DELETE', '/auth/two-factor', all],
]
const publicRoutes = [
  'POST /auth/sign-in',
  'POST /auth/sign-in/link',
  'POST /auth/sign-in/link/check',
  'POST /auth/sign-in/totp',
  'POST /auth/sign-out',
  'GET /auth/session',
  'GET /auth/sessions',
  'DELETE /auth/sessions',
  'DELETE /auth/sessions/:id',
  // Authenticated by the session alone: an invited person may not be a member of any org.
  'GET /me/invitations',
  'POST /me/invitations/:id/accept',
  'POST /me/invitations/:id/decline',
]

const isOfIdentity = /^\/(me|org|workspaces|members|api-keys|audit-log|auth)(\/|$)/

test('the table of permissions contains every route of identity', () => {
  const routes = app.app.routeTable
    .flatMap((route) => [route.method].flat().map((method) => `${method} ${route.url.replace('/api/v1', '')}`))
    .filter((route) => !route.startsWith('HEAD ') && isOfIdentity.test(route.split(' ')[1] ?? ''))
  const named = [...table.map(([method, path]) => `${method} ${path}`), ...publicRoutes]
  assert.deepEqual(new Set(routes), new Set(named))
})

/** A request that only a missing permission rejects: ids are well-formed and unknown, bodies are valid. */
const bodies: Record<string, object> = {
  'PATCH /me': { name: 'N' },
  'PATCH /org': { name: 'O' },
  'POST /workspaces': { name: 'W' },
  'PATCH /workspaces/:id': { name: 'W' },
  'POST /workspaces/:id/members': { userId: newId() },
  'POST /members': { email: 'somebody@example.com', role: 'member', workspaceIds: [newId()] },
  'PATCH /members/:id': { role: 'member' },
  'POST /api-keys': { name: 'N', scopes: ['unknown'] },
  'POST /auth/step-up': {},
  'POST /auth/password': { newPassword: 'a good password' },
  'POST /auth/two-factor': { password: 'x' },
  'POST /auth/two-factor/confirm': { code: '123456' },
}
const call = (as: TestActor | undefined, method: string, path: string) => {
  const json = bodies[`${method} ${path}`]
  return app.call(method, `/api/v1${path.replaceAll(/:\w+/g, () => newId())}`, {
    ...(as && { as }),
    ...(json && { json }),
  })
}
const isRejectedForPermission = (text: string): boolean => text.includes('This request needs the permission')

describe('permissions of identity routes', () => {
  for (const [method, path, roles] of table) {
    test(`allows ${method} ${path} for ${roles.join(', ')} only`, async () => {
      for (const role of all) {
        const { status, text } = await call(everyone[role], method, path)
        if (roles.includes(role)) assert.ok(!isRejectedForPermission(text), `${role}: ${text}`)
        else {
          assert.equal(status, 403, role)
          assert.ok(isRejectedForPermission(text))
        }
      }
      assert.equal((await call(undefined, method, path)).status, 401)
    })
  }
})

test("rejects requests about people, workspaces, keys and the audit log by an owner's key with files scopes", async () => {
  const narrow = await app.createUser(owner, 'owner', { scopes: ['files:*'] })
  const free = new Set(['/me', '/auth/step-up', '/auth/password', '/auth/two-factor', '/auth/two-factor/confirm'])
  for (const [method, path] of table) {
    if (free.has(path) || (method === 'GET' && path.startsWith('/org'))) continue
    const { status } = await call(narrow, method, path)
    assert.equal(status, 403, `${method} ${path}`)
  }
})
