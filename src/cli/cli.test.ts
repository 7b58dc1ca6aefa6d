import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import sharp from 'sharp'
import { sql } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { isWellFormedKey } from '../platform/key-format.ts'
import { startTestApp } from '../../test/harness.ts'
import { childEnv } from '../../test/support/child-processes.ts'
import { commandScript, commandUrlOf, runAlone, runHere } from '../../test/support/processes/command.ts'
import type { CommandOptions, Ended } from '../../test/support/processes/command.ts'
import { onOneServer } from '../../test/support/database/distributed.ts'
import { available } from '../../test/support/require.ts'

const oldKey = `old:${randomBytes(32).toString('base64')}`
const newKey = `new:${randomBytes(32).toString('base64')}`
const app = await startTestApp({ ENCRYPTION_KEYS: oldKey })
const commandEnv = {
  NODE_ENV: 'test',
  DATABASE_URL: commandUrlOf(app.connection),
  DATA_DIR: app.config.dataDir,
  ENCRYPTION_KEYS: oldKey,
}

const withEnv = ({ env, ...options }: CommandOptions): CommandOptions => ({
  ...options,
  env: { ...commandEnv, ...env },
})

/** Runs a command, by default with the database of the running server. */
const atrium = (words: string[], options: CommandOptions = {}): Promise<Ended> => runHere(words, withEnv(options))

/** The same in a process of its own. */
const atriumAlone = (words: string[], options: CommandOptions = {}): Promise<Ended> => runAlone(words, withEnv(options))

/** Runs a command with `--json`, which must print exactly one JSON object. */
const json = async (...words: string[]) => {
  const ended = await atrium([...words, '--json'])
  assert.equal(ended.code, 0, ended.stdout + ended.stderr)
  assert.match(ended.stdout, /^\{.*\}\n$/)
  return JSON.parse(ended.stdout)
}
const failure = async (...words: string[]) => {
  const ended = await atrium([...words, '--json'])
  assert.equal(ended.code, 1, ended.stdout + ended.stderr)
  return JSON.parse(ended.stdout).error
}

const acme = await json('org', 'create', '--name', 'Acme', '--owner', 'Ada@Example.com')

describe('org create', () => {
  test('org create returns the org, workspace, user and an API key that works on the running server', async () => {
    assert.deepEqual(Object.keys(acme), ['org', 'workspace', 'user', 'apiKey'])
    assert.equal(acme.org.name, 'Acme')
    assert.equal(acme.user.email, 'ada@example.com')
    assert.equal(acme.workspace.isDefault, true)
    assert.ok(isWellFormedKey(acme.apiKey.key, 'test'))
    const me = await app.call('GET', '/api/v1/me', { as: acme.apiKey.key })
    assert.equal(me.body.data.role, 'owner')
    assert.deepEqual(me.body.data.org, { id: acme.org.id, name: 'Acme', logoUrl: null })
    assert.deepEqual(me.body.data.workspace, { id: acme.workspace.id, name: acme.workspace.name })
    assert.deepEqual(me.body.data.apiKey, { id: acme.apiKey.id, name: acme.apiKey.name, scopes: [] })
  })

  test('org create without --json prints the same data as text', async () => {
    const { code, stdout } = await atriumAlone(['org', 'create', '--name', 'Plain', '--owner', 'plain@example.com'])
    assert.equal(code, 0)
    assert.match(stdout, /^Org +Plain/)
    const [key = ''] = /atr_test_\w+/.exec(stdout) ?? []
    assert.equal((await app.call('GET', '/api/v1/me', { as: key })).status, 200)
  })

  test('org list returns the orgs with their numbers of members and workspaces', async () => {
    const { orgs } = await json('org', 'list')
    const { id, name, members, workspaces } = orgs[0]
    assert.deepEqual({ id, name, members, workspaces }, { id: acme.org.id, name: 'Acme', members: 1, workspaces: 1 })
    assert.match((await atrium(['org', 'list'])).stdout, / {2}Acme \(1 member, 1 workspace\)\n/)
  })

  test('org rename changes the name, which the running server returns at once, and records it in the audit log', async () => {
    const { org } = await json('org', 'rename', acme.org.id, '--name', 'Acme Corporation')
    assert.deepEqual([org.id, org.name], [acme.org.id, 'Acme Corporation'])
    const as = acme.apiKey.key
    assert.equal((await app.call('GET', '/api/v1/me', { as })).body.data.org.name, 'Acme Corporation')
    const log = await app.call('GET', '/api/v1/audit-log?action=org.renamed', { as })
    assert.deepEqual(log.body.data.items[0].details, { from: 'Acme', to: 'Acme Corporation' })
    assert.equal((await failure('org', 'rename', newId(), '--name', 'X')).code, 'NOT_FOUND')
    assert.equal((await failure('org', 'rename', acme.org.id, '--name', ' ')).code, 'BAD_REQUEST')
    await json('org', 'rename', acme.org.id, '--name', 'Acme')
  })

  test('org defaults and org logo set what the running server returns, and none and --remove reset it', async () => {
    const { id } = acme.org
    const read = async () => (await app.call('GET', '/api/v1/org', { as: acme.apiKey.key })).body.data
    const set = ['--model', 'atrium/demo', '--time-zone', 'Europe/Berlin', '--language', 'de']
    const { org } = await json('org', 'defaults', id, ...set)
    const { defaultModel, defaultTimeZone, defaultLanguage } = await read()
    assert.deepEqual([defaultModel, defaultTimeZone, defaultLanguage], ['atrium/demo', 'Europe/Berlin', 'de'])
    assert.deepEqual([org.defaultModel, org.defaultLanguage], ['atrium/demo', 'de'])
    assert.match((await atrium(['org', 'defaults', id, '--time-zone', 'none'])).stdout, /Time zone +UTC/)
    assert.deepEqual([(await read()).defaultTimeZone, (await read()).defaultLanguage], [null, 'de'])
    assert.equal((await failure('org', 'defaults', id, '--language', 'fr')).code, 'USAGE')
    assert.equal((await failure('org', 'defaults', id, '--model', 'unknown')).code, 'BAD_REQUEST')
    const file = join(app.config.dataDir, 'logo.png')
    await writeFile(
      file,
      await sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
        .png()
        .toBuffer(),
    )
    const { logoUrl } = (await json('org', 'logo', id, '--file', file)).org
    assert.equal(new URL((await read()).logoUrl).pathname, new URL(logoUrl).pathname)
    await json('org', 'logo', id, '--remove')
    assert.equal((await read()).logoUrl, null)
    assert.equal((await failure('org', 'logo', id)).code, 'USAGE')
    await json('org', 'defaults', id, '--model', 'none', '--language', 'none')
  })

  test('org create rejects an invalid name or owner and creates nothing', async () => {
    assert.equal((await failure('org', 'create', '--name', '  ', '--owner', 'a@example.com')).code, 'BAD_REQUEST')
    assert.equal((await failure('org', 'create', '--name', 'Half', '--owner', 'nonsense')).code, 'BAD_REQUEST')
    const { orgs } = await json('org', 'list')
    assert.ok(!orgs.some(({ name }: { name: string }) => name === 'Half'))
  })
})

describe('user commands', () => {
  test('user add adds a user with a role to a workspace', async () => {
    const { workspace } = await json('workspace', 'create', '--org', acme.org.id, '--name', 'Lab Ü')
    assert.equal(workspace.slug, 'lab-u')
    const named = (name: string) => ['workspace', 'create', '--org', acme.org.id, '--name', name]
    assert.equal((await json(...named('  Two   words '))).workspace.name, 'Two words')
    for (const name of [' ', 'a'.repeat(200)]) assert.equal((await failure(...named(name))).code, 'BAD_REQUEST')
    const words = ['--org', acme.org.id, '--email', 'bob@example.com', '--role', 'billing_manager', '--name', 'Bob']
    const { user, member } = await json('user', 'add', ...words, '--workspace', workspace.id)
    assert.deepEqual(user, { id: member.userId, email: 'bob@example.com', name: 'Bob' })
    assert.equal(member.role, 'billing_manager')
    assert.ok(!('revision' in member))
    assert.equal((await failure('user', 'add', ...words)).code, 'CONFLICT')
    const { apiKey } = await json('key', 'create', '--org', acme.org.id, '--user', user.id, '--workspace', workspace.id)
    const me = await app.call('GET', '/api/v1/me', { as: apiKey.key })
    assert.equal(me.body.data.workspace.id, workspace.id)
    assert.equal(me.body.data.role, 'billing_manager')
  })

  test('commands return NOT_FOUND for unknown orgs, users, workspaces and keys', async () => {
    const unknownId = newId()
    for (const [what, words] of [
      ['Org', ['user', 'add', '--org', unknownId, '--email', 'a@example.com', '--role', 'member']],
      ['Org', ['workspace', 'create', '--org', 'nonsense', '--name', 'W']],
      ['User', ['key', 'create', '--org', acme.org.id, '--user', unknownId]],
      ['Workspace', ['key', 'create', '--org', acme.org.id, '--user', acme.user.id, '--workspace', unknownId]],
      ['User', ['user', 'sign-in-link', unknownId]],
      ['API key', ['key', 'revoke', unknownId]],
    ] as const) {
      assert.deepEqual(await failure(...words), { code: 'NOT_FOUND', message: `${what} not found` })
    }
  })

  test('user password reads the password from standard input and ends all sessions of the user', async () => {
    const set = (input: string) => atriumAlone(['user', 'password', acme.user.id, '--json'], { input })
    const short = await set('short\n')
    assert.equal(short.code, 1)
    assert.equal(JSON.parse(short.stdout).error.code, 'BAD_REQUEST')
    const done = await set('a good password\n')
    assert.equal(done.code, 0, done.stderr)
    assert.deepEqual(JSON.parse(done.stdout), { user: acme.user })
    const signIn = async (password: string) =>
      app.call('POST', '/api/v1/auth/sign-in', { json: { email: 'ada@example.com', password } })
    const answer = await signIn('a good password')
    assert.equal(answer.status, 200)
    const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    assert.equal((await app.call('GET', '/api/v1/me', { headers: { cookie } })).status, 200)
    assert.equal((await set('another good password')).code, 0)
    assert.equal((await app.call('GET', '/api/v1/me', { headers: { cookie } })).status, 401)
    assert.equal((await signIn('a good password')).status, 401)
    assert.equal((await signIn('another good password')).status, 200)
  })

  test('user sign-in-link returns a link that signs the user in once', async () => {
    const { user, signInLink, expiresAt } = await json('user', 'sign-in-link', 'ADA@example.com')
    assert.deepEqual(user, acme.user)
    assert.ok(Date.parse(expiresAt) > Date.now())
    const [, token] = signInLink.split('/sign-in#link=')
    const attempt = () => app.call('POST', '/api/v1/auth/sign-in/link', { json: { token } })
    assert.equal((await attempt()).status, 200)
    assert.equal((await attempt()).status, 401)
  })

  test('user sign-in-link states that earlier links no longer work, and they do not', async () => {
    const { signInLink } = await json('user', 'sign-in-link', acme.user.id)
    const { stdout } = await atrium(['user', 'sign-in-link', acme.user.id])
    assert.match(stdout, /Earlier sign-in links of this user no longer work/)
    const attempt = (link: string) =>
      app.call('POST', '/api/v1/auth/sign-in/link', { json: { token: link.split('/sign-in#link=')[1] } })
    assert.equal((await attempt(signInLink)).status, 401)
    assert.equal((await attempt(stdout.split('\n')[0] ?? '')).status, 200)
  })

  test('user two-factor-off removes the second factor of a user', async () => {
    await app.db.execute(sql`
      insert into two_factors (id, user_id, secret, backup_codes, verified)
      values (${newId()}, ${acme.user.id}, 'sealed', 'sealed', true)`)
    assert.deepEqual(await json('user', 'two-factor-off', acme.user.id), { user: acme.user, removed: true })
    assert.deepEqual(await json('user', 'two-factor-off', acme.user.id), { user: acme.user, removed: false })
  })
})

describe('key commands', () => {
  test('key create creates a key with scopes and an expiry', async () => {
    const words = ['key', 'create', '--org', acme.org.id, '--user', acme.user.id, '--name', 'CI']
    const { apiKey } = await json(...words, '--scopes', 'files:read, agents:*', '--expires', '90d')
    assert.deepEqual(apiKey.scopes, ['files:read', 'agents:*'])
    assert.equal(apiKey.name, 'CI')
    const days = (Date.parse(apiKey.expiresAt) - Date.now()) / 86_400_000
    assert.ok(days > 89.9 && days < 90.1)
    const dated = await json(...words, '--expires', '2099-01-31')
    assert.equal(dated.apiKey.expiresAt, '2099-01-31T00:00:00.000Z')
    assert.equal((await failure(...words, '--scopes', 'everything')).code, 'BAD_REQUEST')
    assert.equal((await failure(...words, '--expires', '2001-01-01')).code, 'VALIDATION_ERROR')
    assert.equal((await failure(...words, '--expires', 'soon')).code, 'USAGE')
    // A time that JavaScript knows and PostgreSQL does not.
    assert.equal((await failure(...words, '--expires', '+275760-09-13T00:00:00Z')).code, 'USAGE')
  })

  test('key revoke ends a key immediately on the running server and is idempotent', async () => {
    const { apiKey } = await json('key', 'create', '--org', acme.org.id, '--user', acme.user.id)
    assert.equal((await app.call('GET', '/api/v1/me', { as: apiKey.key })).status, 200)
    const first = await json('key', 'revoke', apiKey.id)
    assert.equal((await app.call('GET', '/api/v1/me', { as: apiKey.key })).status, 401)
    assert.ok(first.apiKey.revokedAt)
    assert.ok(!('key' in first.apiKey) && !('hash' in first.apiKey))
    assert.deepEqual(await json('key', 'revoke', apiKey.id), first)
  })

  test('key generate prints a key of the environment even when the configuration is invalid', async () => {
    const env = { NODE_ENV: 'production', DATABASE_URL: 'nonsense', BOOTSTRAP_API_KEY: 'nonsense' }
    const { code, stdout } = await atriumAlone(['key', 'generate'], { env })
    assert.equal(code, 0)
    assert.ok(isWellFormedKey(stdout.trim(), 'live'))
    const { key } = await json('key', 'generate')
    assert.ok(isWellFormedKey(key, 'test'))
    assert.equal((await app.call('GET', '/api/v1/me', { as: key })).status, 401)
  })
})

describe('command line', () => {
  test('commands are recorded in the audit log', async () => {
    const { body } = await app.call('GET', '/api/v1/audit-log?action=workspace.created', { as: acme.apiKey.key })
    assert.deepEqual(body.data.items.at(-1).actor, { id: null, name: 'atrium command', apiKeyId: null })
  })

  test('invalid arguments end with exit code 1 and a reference to the help', async () => {
    const mistakes = [
      ['org', 'create'],
      ['org', 'create', '--name', 'N'],
      ['org', 'create', '--name', 'N', '--owner', 'a@b.example', '--color', 'red'],
      ['org', 'list', 'all'],
      ['key', 'revoke'],
      ['user', 'add', '--org', acme.org.id, '--email', 'a@b.example', '--role', 'king'],
      ['nonsense'],
      ['org', 'destroy'],
    ]
    await Promise.all(
      mistakes.map(async (words, at) => {
        const { code, stdout, stderr } = await atrium(at % 2 === 0 ? words : [...words, '--json'])
        assert.equal(code, 1, words.join(' '))
        if (at % 2 === 1) assert.equal(JSON.parse(stdout).error.code, 'USAGE')
        else {
          assert.equal(stdout, '')
          assert.match(stderr, /See: atrium .*--help/)
        }
      }),
    )
  })

  test('a missing or unknown command with --json is a USAGE error that lists the commands', async () => {
    const [none, half, wrong] = await Promise.all([failure(), failure('org'), failure('org', 'creat')])
    assert.equal(none.code, 'USAGE')
    assert.match(none.message, /command required: serve, org create, /)
    assert.equal(half.message, 'command required: org create, org rename, org list, org defaults, org logo, org quota')
    assert.equal(wrong.message, 'unknown command: org creat')
  })

  test('every error in the environment is printed, and an unreachable database is SERVICE_UNAVAILABLE', async () => {
    const wrong = await atriumAlone(['org', 'list'], { env: { PORT: 'x', LOG_LEVEL: 'loud' } })
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /PORT must be/)
    assert.match(wrong.stderr, /LOG_LEVEL must be/)
    const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
    const away = await atrium(['org', 'list', '--json'], { env })
    assert.equal(away.code, 1)
    const { error } = JSON.parse(away.stdout)
    assert.equal(error.code, 'SERVICE_UNAVAILABLE')
    assert.match(error.message, /The database of DATABASE_URL cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1\./)
  })

  test('every command in the overview exists and has a help text', async () => {
    const { stdout } = await atrium(['--help'])
    const verbs = [...stdout.matchAll(/^ {2}atrium ([a-z -]+?)(?: ID)? +(?=[A-Z])/gm)].map(([, words = '']) =>
      words.trim(),
    )
    assert.ok(verbs.length >= 13, stdout)
    await Promise.all(
      verbs.map(async (verb) => {
        const { code, stdout } = await atrium([...verb.split(' '), '--help'])
        assert.equal(code, 0, verb)
        assert.ok(stdout.includes(`atrium ${verb}`), verb)
      }),
    )
    const version = await atrium(['--version'])
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
    assert.deepEqual(await json('--version'), { version: version.stdout.trim() })
    assert.match((await json('--help')).help, /atrium org create/)
    assert.match((await json('org', 'create', '--help')).help, /--owner EMAIL/)
    const group = await atrium(['user'])
    assert.equal(group.code, 0)
    assert.ok(!group.stdout.includes('atrium org create'))
  })
})

/** The names of failed checks. */
const findings = async (env: Record<string, string>) => {
  const { code, stdout, stderr } = await atrium(['doctor', '--json'], { env: { PORT: '0', ...env } })
  const { ok, checks } = JSON.parse(stdout)
  assert.equal(code, ok ? 0 : 1, stderr)
  return checks.filter((check: { ok: boolean }) => !check.ok).map((check: { name: string }) => check.name)
}

describe('doctor', () => {
  test('doctor finds no problem while a server is running', async () => {
    assert.deepEqual(await findings({}), [])
    assert.deepEqual(await findings({ PORT: new URL(app.url).port }), [], 'the port is taken by the server itself')
    const { code, stdout } = await atrium(['doctor'], { env: { PORT: '0' } })
    assert.equal(code, 0)
    assert.equal(stdout.trim().split('\n').length, 12)
    const use = (await app.db.isDistributed()) ? 'not in use' : 'in use for the transactions of an org'
    assert.match(stdout, new RegExp(`row-level security +${use}`))
    assert.ok(stdout.split('\n').every((line) => line === '' || line.startsWith('✓')))
  })

  test('doctor reports a disk that is too full for uploads', async (t) => {
    const target = await mkdtemp(join(tmpdir(), 'atrium-doctor-'))
    t.after(() => rm(target, { recursive: true, force: true }))
    const inMount = async (command: string): Promise<string> => {
      const shell = `mount -t tmpfs -o size=8m none "$1" && ${command}`
      const words = [
        '--user',
        '--map-root-user',
        '--mount',
        'sh',
        '-c',
        shell,
        'sh',
        target,
        process.execPath,
        commandScript,
      ]
      const child = spawn('unshare', words, { env: { ...childEnv, ...commandEnv, PORT: '0', DATA_DIR: target } })
      let stdout = ''
      child.stdout.on('data', (chunk) => (stdout += String(chunk)))
      await new Promise((resolve) => child.on('close', resolve).on('error', resolve))
      return stdout
    }
    const canMount = async (): Promise<boolean> => (await inMount('echo mounted')) === 'mounted\n'
    const hint = 'allow user namespaces: unshare --user --map-root-user --mount'
    if (!(await available('full-disk', canMount, hint))) return
    const stdout = await inMount('head -c 8300000 /dev/zero > "$1/filler"; "$2" "$3" doctor --json')
    const { ok, checks } = JSON.parse(stdout)
    assert.equal(ok, false)
    const { detail } = checks.find(({ name }: { name: string }) => name === 'data directory')
    assert.match(detail, /has only 0\.1 MB free; uploads are rejected until 0\.2 MB are free/)
  })

  test('doctor names failed checks and changes nothing', async () => {
    assert.deepEqual(await findings({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }), ['database'])
    assert.deepEqual(await findings({ ENCRYPTION_KEYS: newKey }), ['encryption keys'])
    const wrong = `old:${randomBytes(32).toString('base64')}`
    assert.deepEqual(await findings({ ENCRYPTION_KEYS: wrong }), ['encryption keys'])
    const other = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')).listen(
      0,
      '127.0.0.1',
    )
    await once(other, 'listening')
    assert.deepEqual(await findings({ PORT: String((other.address() as AddressInfo).port) }), ['port'])
    other.close()
    assert.deepEqual(await findings({ PORT: 'x' }), ['environment'])
    assert.deepEqual(await findings({ DATA_DIR: '/proc/1/nothing' }), [])
    assert.deepEqual(await findings({ ENCRYPTION_KEYS: `${newKey},${oldKey}` }), [])
    const row = await app.db.row<{ ids: string[] }>(sql`
      select array_agg(key_id) as ids from encryption_checks`)
    assert.deepEqual(row?.ids, ['old'])
  })
})

test('reencrypt encrypts all secrets with the new key and keeps sessions valid', async () => {
  const { signInLink } = await json('user', 'sign-in-link', acme.user.id)
  const token = signInLink.split('=')[1]
  const signIn = await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token } })
  const cookie = signIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const env = { ENCRYPTION_KEYS: `${newKey},${oldKey}` }
  const { code, stdout } = await atrium(['reencrypt', '--json'], { env })
  assert.equal(code, 0)
  const { currentKeyId, isComplete, columns } = JSON.parse(stdout)
  assert.deepEqual({ currentKeyId, isComplete }, { currentKeyId: 'new', isComplete: true })
  assert.equal(columns.find(({ table }: { table: string }) => table === 'sign_in_secret').resealed, 1)
  const withNewKeyOnly = await app.secondServer({ ENCRYPTION_KEYS: newKey })
  assert.equal((await withNewKeyOnly.call('GET', '/api/v1/me', { headers: { cookie } })).status, 200)
})

describe('embedded database', () => {
  const folders: string[] = []
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))
  const newHome = async (): Promise<Record<string, string>> => {
    const folder = await mkdtemp(join(tmpdir(), 'atrium-cli-'))
    folders.push(folder)
    return { DATA_DIR: join(folder, 'data'), DATABASE_URL: '', ENCRYPTION_KEYS: '', PORT: '0' }
  }

  test('a command starts the embedded database when no server is running', async () => {
    const env = await newHome()
    const made = await atriumAlone(['org', 'create', '--name', 'Own', '--owner', 'o@example.com', '--json'], { env })
    assert.equal(made.code, 0, made.stderr)
    const listed = await atriumAlone(['org', 'list', '--json'], { env })
    assert.equal(JSON.parse(listed.stdout).orgs[0].id, JSON.parse(made.stdout).org.id)
  })

  test('a command uses the embedded database of a running server, and a revoked key ends immediately', async () => {
    const env = await newHome()
    const server = spawn(process.execPath, [commandScript, 'serve'], { env: { ...childEnv, ...commandEnv, ...env } })
    const ended = once(server, 'close')
    let output = ''
    server.stdout.on('data', (chunk) => (output += String(chunk)))
    server.stderr.on('data', (chunk) => (output += String(chunk)))
    try {
      while (!/ready after .*: http/.test(output)) {
        await Promise.race([once(server.stdout, 'data'), ended])
        assert.equal(server.exitCode, null, output)
      }
      const [, url = ''] = /ready after .*: (http\S+)/.exec(output) ?? []
      const made = await atriumAlone(['org', 'create', '--name', 'Own', '--owner', 'o@example.com', '--json'], { env })
      assert.equal(made.code, 0, made.stderr)
      const { apiKey, user } = JSON.parse(made.stdout)
      const me = async (): Promise<number> =>
        (await fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${apiKey.key}` } })).status
      assert.equal(await me(), 200)
      assert.equal((await atriumAlone(['key', 'revoke', apiKey.id], { env })).code, 0)
      assert.equal(await me(), 401)
      const link = await atriumAlone(['user', 'sign-in-link', user.id, '--json'], { env })
      assert.ok(JSON.parse(link.stdout).signInLink.startsWith(`${url}/sign-in#link=`), 'with the address of the server')
      const health = await atriumAlone(['doctor'], { env: { ...env, PORT: '0' } })
      assert.equal(health.code, 0)
      const port = `port +the server of this data directory is running at ${url} \\(process ${server.pid}\\)`
      assert.match(health.stdout, new RegExp(port), 'also when it was started with another PORT')
    } finally {
      server.kill('SIGTERM')
      await ended
    }
    assert.equal(server.exitCode, 0, output)
  })
})

describe('billing commands', async () => {
  test('adjust adds and subtracts amounts as transactions of the org and records them in the audit log', async () => {
    const given = await json('adjust', '--org', acme.org.id, '--cents', '700', '--note', 'A present')
    assert.deepEqual([given.adjustment.amountCents, given.balance.balanceCents], [700, 700])
    const taken = await json('adjust', '--org', acme.org.id, '--cents', '-250', '--note', 'Part of it back')
    assert.equal(taken.balance.balanceCents, 450)
    const { body } = await app.call('GET', '/api/v1/billing', { as: acme.apiKey.key })
    assert.deepEqual([body.data.balance.balanceCents, body.data.balance.cumulativeDepositsCents], [450, 0])
    assert.deepEqual(
      body.data.transactions.map((one: Record<string, unknown>) => [one['type'], one['amountCents'], one['notes']]),
      [
        ['adjustment', -250, 'Part of it back'],
        ['adjustment', 700, 'A present'],
      ],
    )
    const log = await app.call('GET', '/api/v1/audit-log', { as: acme.apiKey.key })
    assert.ok(log.body.data.items.some(({ action }: { action: string }) => action === 'billing.adjusted'))
  })

  test('adjust rejects an unknown org, zero, and values that are not whole numbers', async () => {
    const to = ['--note', 'x', '--cents']
    assert.equal((await failure('adjust', '--org', newId(), ...to, '5')).code, 'NOT_FOUND')
    for (const cents of ['0', '1.5', 'many', '99999999999']) {
      const { code, stdout } = await atrium(['adjust', '--org', acme.org.id, ...to, cents, '--json'])
      assert.deepEqual([code, JSON.parse(stdout).error.code], [1, 'USAGE'], cents)
    }
  })

  test('promo create creates a promotion that an org can redeem', async () => {
    const { promotion } = await json('promo', 'create', '--code', 'hello-1', '--cents', '150', '--expires', '1d')
    assert.deepEqual([promotion.code, promotion.amountCents], ['HELLO-1', 150])
    const path = '/api/v1/billing/promotions/redeem'
    const answer = await app.call('POST', path, { as: acme.apiKey.key, json: { code: 'Hello-1' } })
    assert.equal(answer.body.data.remainingCents, 150)
    assert.equal((await failure('promo', 'create', '--code', 'HELLO-1', '--cents', '1')).code, 'CONFLICT')
  })

  test('statement and receipt print the figures and write files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'atrium-cli-'))
    after(() => rm(folder, { recursive: true, force: true }))
    const month = new Date().toISOString().slice(0, 7)
    const page = join(folder, 'statement.html')
    const { statement } = await json('statement', '--org', acme.org.id, '--month', month, '--output', page)
    assert.deepEqual([statement.month, statement.closingBalanceCents], [month, 600])
    assert.match(await readFile(page, 'utf8'), /Closing balance: \$6\.00/)
    const paid = sql`insert into payments (org_id, payment_intent_id, amount_cents) values (${acme.org.id}, 'pi_1', 900)`
    await app.db.execute(paid)
    const file = join(folder, 'receipt.pdf')
    const { receipt } = await json('receipt', '--org', acme.org.id, '--payment', 'pi_1', '--output', file)
    assert.deepEqual([receipt.paidCents, receipt.number.slice(-5)], [900, '-0001'])
    assert.match(await readFile(file, 'latin1'), /^%PDF-/)
    assert.equal((await failure('statement', '--org', acme.org.id, '--month', '2026-13')).code, 'NOT_FOUND')
    assert.equal(
      (await failure('statement', '--org', acme.org.id, '--month', month, '--output', 'a.doc')).code,
      'USAGE',
    )
  })

  if (await onOneServer(app.db, 'an inconsistent ledger', 'triggers of shards cannot be turned off')) {
    test('ledger verify names an inconsistent ledger and exits with code 1', async () => {
      const proven = await json('ledger', 'verify')
      assert.deepEqual(proven.faults, [])
      assert.ok(proven.orgs >= 1)
      await app.db.transaction('all orgs', async (db) => {
        await db.execute(sql`set local session_replication_role = replica`)
        await db.execute(
          sql`update transactions set amount_cents = amount_cents + 1 where org_id = ${acme.org.id} and number = 1`,
        )
      })
      const { code, stdout } = await atrium(['ledger', 'verify', '--org', acme.org.id, '--json'])
      assert.equal(code, 1)
      const { faults } = JSON.parse(stdout)
      assert.deepEqual(faults[0], {
        orgId: acme.org.id,
        check: 'the balance is the sum of the transactions',
        expected: '601',
        found: '600',
      })
    })
  }
})
