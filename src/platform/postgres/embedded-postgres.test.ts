import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { once } from 'node:events'
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import {
  canBeOrdinary,
  isRoot,
  leaveOut,
  mustBeRoot,
  startHolder,
  startReady,
  temporaryDir,
  withClient,
} from '../../../test/support/holder.ts'
import { openDataDir } from './data-dir.ts'
import { borrowEmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts'
import { linkLibraries } from './binaries.ts'
import { StartError } from '../process/start-error.ts'

const run = promisify(execFile)

// A path that has to survive shells, settings and connection strings.
const dir = join(await temporaryDir('postgres'), `with, "odd" 'characters' ä`)
await mkdir(dir)

const value = async (socketDir: string, statement: string): Promise<unknown> =>
  withClient(socketDir, async (client) => {
    const { rows } = await client.query<{ value: unknown }>(statement)
    return rows[0]?.value
  })

const refused = async (work: Promise<unknown>): Promise<StartError> => {
  const error: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(error instanceof StartError, `expected a StartError, got ${String(error)}`)
  assert.doesNotMatch(error.message, /\n/)
  return error
}

test('the first start creates a cluster, and the next start uses it', async () => {
  const first = await startEmbeddedPostgres({ dataDir: dir })
  assert.equal(first.createdCluster, true)
  await withClient(first.socketDir, (client) => client.query("create table kept as select 'yes' as value"))
  await first.stop()

  const second = await startEmbeddedPostgres({ dataDir: dir, settings: { work_mem: '7MB' } })
  assert.equal(second.createdCluster, false)
  assert.equal(await value(second.socketDir, 'select value from kept'), 'yes')
  assert.equal(await value(second.socketDir, "select current_setting('work_mem') as value"), '7MB')
  assert.deepEqual((await readdir(join(dir, 'postgres'))).toSorted(), [
    'data',
    'lock',
    'postgres.log',
    'postgres.log.1',
    'run',
  ])
  await second.stop()
})

test('the cluster is durable and uses UTF-8 and UTC', async () => {
  const postgres = await startEmbeddedPostgres({ dataDir: dir })
  const settings = await withClient(postgres.socketDir, (client) =>
    client.query<{ name: string; setting: string }>('select name, setting from pg_settings'),
  )
  const setting = new Map(settings.rows.map((row) => [row.name, row.setting]))
  const expected = {
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    data_checksums: 'on',
    server_encoding: 'UTF8',
    TimeZone: 'UTC',
    listen_addresses: '',
  }
  for (const [name, wanted] of Object.entries(expected)) assert.equal(setting.get(name), wanted, name)
  assert.equal(await value(postgres.socketDir, "select lower('ÄÖÜ') as value"), 'äöü')
  // Trigrams take a letter for a letter by the C library's table, not by the database's own.
  await withClient(postgres.socketDir, (client) => client.query('create extension if not exists pg_trgm'))
  assert.equal(await value(postgres.socketDir, "select 'münchen' % 'münch' and not 'müü' % 'mää' as value"), true)
  await postgres.stop()
})

test('other users cannot connect to the private Unix socket', async (t) => {
  const postgres = await startEmbeddedPostgres({ dataDir: dir })
  const socket = join(postgres.socketDir, '.s.PGSQL.5432')
  assert.equal((await stat(postgres.socketDir)).mode & 0o777, 0o700)
  assert.equal((await stat(socket)).mode & 0o777, 0o700)
  if (isRoot && (await canBeOrdinary(t))) {
    const script = `require('net').connect(${JSON.stringify(socket)}).on('error', (e) => console.log(e.code)).on('connect', () => console.log('in'))`
    const { stdout } = await run(process.execPath, ['-e', script], { uid: 65_534, gid: 65_534 })
    assert.equal(stdout.trim(), 'EACCES')
  }
  await postgres.stop()
})

test('a second server on the same cluster fails, and the first continues', async () => {
  const holder = await startReady({ dir })
  const error = await refused(startEmbeddedPostgres({ dataDir: dir }))
  assert.match(error.message, new RegExp(`in use by another Atrium \\(process ${holder.pid}\\)`))
  assert.equal(await value(holder.socketDir, 'select 1 as value'), 1)
  assert.equal(await holder.stop(), 0)
})

test('a command uses the database of a running server, or starts it temporarily', async () => {
  const holder = await startReady({ dir })
  const borrowed = await borrowEmbeddedPostgres({ dataDir: dir })
  assert.equal(borrowed.socketDir, holder.socketDir)
  await borrowed.stop()
  assert.equal(await value(holder.socketDir, 'select 1 as value'), 1)
  await holder.stop()

  const own = await Promise.all([1, 2].map(() => borrowEmbeddedPostgres({ dataDir: dir }).then((own) => own.stop())))
  assert.equal(own.length, 2)
  const server = await openDataDir(dir)
  await server.release()
})

test('a data directory can have a longer path than a socket', async () => {
  const target = join(dir, 'deep/'.repeat(30))
  await mkdir(target, { recursive: true })
  const postgres = await startEmbeddedPostgres({ dataDir: target })
  assert.equal(
    await value(postgres.socketDir, "select current_setting('data_directory') as value"),
    join(target, 'postgres/data'),
  )
  assert.ok(!postgres.socketDir.startsWith(target))
  assert.equal((await stat(postgres.socketDir)).mode & 0o777, 0o700)
  await postgres.stop()
})

test('a socket directory that another user created in the temporary directory is not used', async () => {
  const target = join(dir, 'deep/'.repeat(30))
  const first = await startEmbeddedPostgres({ dataDir: target })
  await first.stop()
  await rm(first.socketDir, { recursive: true })
  await symlink(dir, first.socketDir)
  const second = await startEmbeddedPostgres({ dataDir: target })
  assert.notEqual(second.socketDir, first.socketDir)
  assert.ok((await lstat(second.socketDir)).isDirectory())
  await second.stop()
  for (const made of [first.socketDir, second.socketDir]) await rm(made, { recursive: true, force: true })
})

test('a cluster of another major version is rejected and not changed', async () => {
  const target = await mkdtemp(join(dir, 'version-'))
  const cluster = join(target, 'postgres', 'data')
  await mkdir(cluster, { recursive: true })
  await writeFile(join(cluster, 'PG_VERSION'), '14\n')
  const error = await refused(startEmbeddedPostgres({ dataDir: target }))
  assert.match(error.message, /created by PostgreSQL 14; this Atrium has PostgreSQL 18\.$/)
  assert.deepEqual(await readdir(cluster), ['PG_VERSION'])

  await rm(join(cluster, 'PG_VERSION'))
  await writeFile(join(cluster, 'precious'), '')
  assert.match((await refused(startEmbeddedPostgres({ dataDir: target }))).message, /is not a PostgreSQL cluster/)
  assert.deepEqual(await readdir(cluster), ['precious'])
})

test('a server that does not start fails with a one-line reason', async () => {
  const error = await refused(startEmbeddedPostgres({ dataDir: dir, settings: { shared_buffers: 'plenty' } }))
  assert.match(error.message, /^PostgreSQL did not start: .*shared_buffers/)
  const postgres = await startEmbeddedPostgres({ dataDir: dir })
  await postgres.stop()
})

// Says how a start went and what it left, in a process that the shell can confine.
const startScript = `
  import { readdirSync } from 'node:fs'
  import { startEmbeddedPostgres } from ${JSON.stringify(new URL('embedded-postgres.ts', import.meta.url).href)}
  const dataDir = process.argv[1]
  const said = await startEmbeddedPostgres({ dataDir }).then(() => 'started', (error) => error.name + ': ' + error.message)
  console.log(JSON.stringify([said, readdirSync(dataDir + '/postgres')]))`
const startLine = (target: string): string[] => [process.execPath, '--input-type=module', '-e', startScript, target]

test('an incomplete first start is removed, and the next start succeeds', async () => {
  const target = await mkdtemp(join(dir, 'limited-'))
  // 8 MB a file: the log that PostgreSQL writes ahead needs 16.
  const limited = ['-c', 'ulimit -f 16384 && exec "$@"', 'sh', ...startLine(target)]
  const [said, left] = JSON.parse((await run('sh', limited)).stdout) as [string, string[]]
  assert.match(said, /^StartError: Creating the database failed: [^\n]+$/)
  assert.deepEqual(left, ['lock'])
  const postgres = await startEmbeddedPostgres({ dataDir: target })
  assert.equal(postgres.createdCluster, true)
  await postgres.stop()
})

test('a server left over by a killed process may end while it is stopped, and the next start succeeds', async () => {
  const target = await mkdtemp(join(dir, 'orphan-'))
  const before = await startEmbeddedPostgres({ dataDir: target })
  await before.stop()
  const cluster = join(target, 'postgres/data')
  // The outer shell reaps the inner one, which looks like a server of this cluster.
  const left = `sh -c 'sleep 60; :' postgres -D "$0" - & echo $!; wait`
  const shell = spawn('sh', ['-c', left, cluster], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = (await once(shell.stdout, 'data')) as [Buffer]
  const pid = Number(String(line))
  await writeFile(join(cluster, 'postmaster.pid'), `${pid}\n${cluster}\n`)
  const said: string[] = []
  const postgres = await startEmbeddedPostgres({
    dataDir: target,
    log: (text) => {
      said.push(text)
      if (!text.startsWith('stopping')) return
      process.kill(pid, 'SIGKILL')
      while (existsSync(`/proc/${pid}`)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    },
  })
  assert.deepEqual(said, [`stopping a PostgreSQL whose Atrium was killed (process ${pid})`])
  await postgres.stop()
})

test('a first start on a nearly full disk fails before it writes files', async (t) => {
  const target = await mkdtemp(join(dir, 'full-'))
  // A file system of a few megabytes, in a mount namespace that ends with the process.
  const script = 'mount -t tmpfs -o size=20m,mode=0755 none "$1" && shift && cd / && exec "$@"'
  const mounted = ['-m', ...(isRoot ? [] : ['-Ur']), 'sh', '-c', script, 'sh', target]
  const works = await run('unshare', [...mounted, 'true']).then(
    () => true,
    () => false,
  )
  if (!works) {
    leaveOut(t, 'this system lets us mount nothing')
    return
  }
  const { stdout } = await run('unshare', [...mounted, ...startLine(target)])
  const [said, left] = JSON.parse(stdout) as [string, string[]]
  assert.match(said, /^StartError: The disk of .+ has \d+ MB left; a new database needs 150 MB\.$/)
  assert.deepEqual(left, ['lock'])
})

test('an ordinary user runs PostgreSQL without another user', async (t) => {
  if (!(await canBeOrdinary(t))) return
  const his = await temporaryDir('postgres', { ordinaryUser: true })
  const holder = await startReady({ dir: his }, { ordinaryUser: true })
  assert.equal(holder.createdCluster, true)
  assert.equal(await holder.stop(), 0)

  if (!isRoot) return
  // Root keeps the cluster with whom it belongs to, so that he can go on.
  const roots = await startEmbeddedPostgres({ dataDir: his })
  assert.equal((await stat(roots.socketDir)).uid, 65_534)
  await roots.stop()
  const again = await startReady({ dir: his }, { ordinaryUser: true })
  assert.equal(again.createdCluster, false)
  await again.stop()
})

test('a cluster of another user is rejected with a one-line message', async (t) => {
  if (!mustBeRoot(t) || !(await canBeOrdinary(t))) return
  const his = await temporaryDir('postgres', { ordinaryUser: true })
  await mkdir(join(his, 'postgres', 'data'), { recursive: true, mode: 0o755 })
  await writeFile(join(his, 'postgres', 'data', 'PG_VERSION'), '18\n')
  const outcome = await startHolder({ dir: his }, { ordinaryUser: true }).outcome
  assert.ok(!outcome.ready)
  assert.match(outcome.message, /permission denied \(\S+ belongs to user 0, Atrium runs as user 65534\)\.$/)
})

test('a server that root starts does not run as root, and root keeps access to its files', async (t) => {
  if (!mustBeRoot(t)) return
  // Below a directory that only root can enter, no other user can work: there the server runs in a user namespace.
  const hidden = await mkdtemp(join(dir, 'hidden-'))
  const within = join(hidden, 'data')
  await mkdir(within)
  const postgres = await startEmbeddedPostgres({ dataDir: within })
  const pid = (await readFile(join(within, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  assert.match(status, /^CapEff:\t0+$/m)
  assert.equal(await value(postgres.socketDir, 'select 1 as value'), 1)
  await postgres.stop()
  const again = await startEmbeddedPostgres({ dataDir: within })
  assert.equal(again.createdCluster, false)
  await again.stop()
})

test('missing symbolic links of PostgreSQL libraries are created', async () => {
  const root = await mkdtemp(join(dir, 'package-'))
  await mkdir(join(root, 'native/lib'), { recursive: true })
  await writeFile(join(root, 'native/lib/libx.so.6.18'), '')
  await writeFile(
    join(root, 'native/pg-symlinks.json'),
    JSON.stringify([{ source: 'native/lib/libx.so.6.18', target: 'native/lib/libx.so.6' }]),
  )
  await linkLibraries(root)
  await linkLibraries(root)
  assert.equal(await readlink(join(root, 'native/lib/libx.so.6')), 'libx.so.6.18')
})
