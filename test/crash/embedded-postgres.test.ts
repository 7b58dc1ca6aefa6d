// The effects of `kill -9` on the embedded PostgreSQL, with real processes. All tests share one cluster.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openDataDir } from '../../src/platform/postgres/data-dir.ts'
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts'
import type { EmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.ts'
import { chooseIdentity, commandAs, findBinaries } from '../../src/platform/postgres/binaries.ts'
import { leaveOut, startHolder, startReady, temporaryDir, withClient } from '../support/holder.ts'
import { until } from '../support/until.ts'

const dir = await temporaryDir('crash')
const cluster = join(dir, 'postgres', 'data')
const pidFile = join(cluster, 'postmaster.pid')

const postmasterPid = async (): Promise<number> => Number.parseInt(await readFile(pidFile, 'utf8'), 10)

const isDraft = (name: string): boolean => name.startsWith('data.new-')

/** Sends a signal to a process, if there still is one: a backend may end by itself or with its postmaster. */
const sendSignal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const killHard = (pid: number): void => sendSignal(pid, 'SIGKILL')

const childrenOf = async (pid: number): Promise<number[]> => {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

/** Inserts on several connections until they break. Returns every number whose insert was acknowledged. */
const insertUntilKilled = async (
  socketDir: string,
  from: number,
  onAcknowledged: (count: number) => void,
): Promise<number[]> => {
  const acknowledged: number[] = []
  let next = from
  const connections = Array.from({ length: 4 }, () =>
    withClient(socketDir, async (client) => {
      for (;;) {
        const id = (next += 1)
        await client.query('insert into acknowledged (id) values ($1)', [id])
        acknowledged.push(id)
        onAcknowledged(acknowledged.length)
      }
    }).catch(() => undefined),
  )
  await Promise.all(connections)
  return acknowledged
}

const rowsOf = (socketDir: string): Promise<Set<number>> =>
  withClient(socketDir, async (client) => {
    const { rows } = await client.query<{ id: number }>('select id from acknowledged')
    return new Set(rows.map((row) => row.id))
  })

const startHere = (): Promise<EmbeddedPostgres> => startEmbeddedPostgres({ dataDir: dir })

const killings: [string, (atrium: number, postmaster: number) => Promise<void>][] = [
  ['Atrium', async (atrium) => killHard(atrium)],
  ['PostgreSQL', async (_, postmaster) => killHard(postmaster)],
  [
    'the whole process tree',
    async (atrium, postmaster) => {
      for (const pid of [...(await childrenOf(postmaster)), atrium, postmaster]) killHard(pid)
    },
  ],
]

test('kill -9 of Atrium or PostgreSQL loses no acknowledged row', async (t) => {
  const prepare = await startHere()
  await withClient(prepare.socketDir, (client) => client.query('create table acknowledged (id int primary key)'))
  await prepare.stop()
  let from = 0
  for (const [what, kill] of killings) {
    await t.test(`kill -9 of ${what} loses no acknowledged row, and the next start succeeds`, async () => {
      const holder = await startReady({ dir })
      const postmaster = await postmasterPid()
      const acknowledged = await insertUntilKilled(holder.socketDir, from, (count) => {
        if (count === 500) void kill(holder.pid, postmaster)
      })
      assert.ok(acknowledged.length >= 500)
      await holder.kill()
      const next = await startReady({ dir })
      const rows = await rowsOf(next.socketDir)
      assert.deepEqual(
        acknowledged.filter((id) => !rows.has(id)),
        [],
      )
      from = Math.max(...rows, ...acknowledged) + 10
      assert.equal(await next.stop(), 0)
    })
  }
})

test('Atrium is notified when PostgreSQL crashes, and not when it is stopped gracefully', async () => {
  const postgres = await startHere()
  process.kill(await postmasterPid(), 'SIGKILL')
  assert.deepEqual(await postgres.exited, { code: null, signal: 'SIGKILL' })
  await postgres.stop()

  const next = await startHere()
  let isTold = false
  void next.exited.then(() => (isTold = true))
  // Resolves when the process has ended; a crash is reported in the same turn of the event loop.
  await next.stop()
  await nextTurn()
  assert.equal(isTold, false)
})

test('PostgreSQL shuts down when Atrium is killed', async (t) => {
  if (process.platform !== 'linux') {
    leaveOut(t, 'only Linux tells a process of the death of its parent')
    return
  }
  const holder = await startReady({ dir })
  await holder.kill()
  const log = join(dir, 'postgres/postgres.log')
  await until('it is shut down', async () => (await readFile(log, 'utf8')).includes('database system is shut down'))
  await until('it is gone', () => !existsSync(pidFile))
})

/** Starts a postmaster of this cluster without Atrium, as a kill leaves it on systems without a parent-death signal. */
const startOrphan = async (): Promise<ChildProcess> => {
  const binaries = await findBinaries()
  const { identity } = await chooseIdentity(binaries, dir, await stat(cluster))
  const { options } = await commandAs(identity, 'INT', binaries.postgres, [])
  const args = ['-D', cluster, '-c', 'listen_addresses=', '-c', `unix_socket_directories=${dir}/postgres/run`]
  const orphan = spawn(binaries.postgres, args, { ...options, stdio: 'ignore' })
  await until('it is ready', async () => /^ready/m.test(await readFile(pidFile, 'utf8').catch(() => '')))
  return orphan
}

test('a start stops the PostgreSQL of a killed Atrium and keeps its rows', async () => {
  const orphan = await startOrphan()
  const before = await rowsOf(join(dir, 'postgres/run'))
  const lines: string[] = []
  const postgres = await startEmbeddedPostgres({ dataDir: dir, log: (line) => void lines.push(line) })
  assert.match(lines.join('\n'), new RegExp(`stopping a PostgreSQL .*process ${orphan.pid}`))
  assert.notEqual(await postmasterPid(), orphan.pid)
  assert.deepEqual(await rowsOf(postgres.socketDir), before)
  await postgres.stop()
})

test('a start does not change the database of another running Atrium, even when the lock of the directory is missing', async () => {
  const holder = await startReady({ dir })
  const postmaster = await postmasterPid()
  await assert.rejects(startHere(), { name: 'StartError', message: /in use by another Atrium/ })
  await assert.rejects(openDataDir(dir), { name: 'StartError', message: /already running/ })
  assert.equal(await postmasterPid(), postmaster)
  assert.ok((await rowsOf(holder.socketDir)).size > 0)
  assert.equal(await holder.stop(), 0)
})

/** Creates the files of a killed postmaster whose process id another process now has. */
const leavePidFile = async (pid: number): Promise<void> => {
  const socket = `${dir}/postgres/run/.s.PGSQL.5432.lock`
  const lines = [
    pid,
    cluster,
    Math.floor(Date.now() / 1000),
    5432,
    `${dir}/postgres/run`,
    '',
    '  1234567    123456',
    'ready',
  ]
  await writeFile(pidFile, `${lines.join('\n')}\n`)
  await writeFile(socket, `${lines.slice(0, 5).join('\n')}\n`)
  const { uid, gid } = await stat(cluster)
  if (process.getuid?.() === 0) {
    await chown(pidFile, uid, gid)
    await chown(socket, uid, gid)
  }
}

test('a stale postmaster.pid does not prevent a start, and the process that now has its id is not stopped', async (t) => {
  const { uid, gid } = await stat(cluster)
  const asOwner = process.getuid?.() === 0 ? { uid, gid } : {}
  await t.test('the number of a live program of the same user', async (t) => {
    const stranger = spawn('/bin/sh', ['-c', 'echo ready; read line'], {
      ...asOwner,
      cwd: '/',
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    t.after(() => stranger.kill())
    await once(stranger.stdout, 'data')
    await leavePidFile(stranger.pid!)
    const postgres = await startHere()
    assert.ok((await rowsOf(postgres.socketDir)).size > 0)
    await postgres.stop()
    assert.equal(stranger.exitCode ?? stranger.signalCode, null)
  })

  await t.test('the number of a zombie', async (t) => {
    if (process.platform !== 'linux') {
      leaveOut(t, 'it needs /proc')
      return
    }
    // A shell that replaced itself by `sleep` never reaps its child.
    const parent = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], {
      ...asOwner,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    t.after(() => parent.kill('SIGKILL'))
    const [text] = (await once(parent.stdout, 'data')) as [Buffer]
    const zombie = Number(text.toString())
    await until('the shell is sleep', async () => (await readFile(`/proc/${parent.pid}/comm`, 'utf8')) === 'sleep\n')
    killHard(zombie)
    await until('it is a zombie', async () => / Z /.test(await readFile(`/proc/${zombie}/stat`, 'utf8')))
    await leavePidFile(zombie)
    const postgres = await startHere()
    assert.ok((await rowsOf(postgres.socketDir)).size > 0)
    await postgres.stop()
  })

  await t.test('an empty one, cut off by a full disk', async () => {
    await writeFile(pidFile, '')
    const postgres = await startHere()
    await postgres.stop()
  })
})

test('a new server starts only after all backends of the killed postmaster have ended', async (t) => {
  if (process.platform !== 'linux') {
    leaveOut(t, 'it finds the backends in /proc')
    return
  }
  const first = await startHere()
  const postmaster = await postmasterPid()
  const children = await childrenOf(postmaster)
  // A stopped process does not notice the end of its postmaster.
  for (const pid of children) sendSignal(pid, 'SIGSTOP')
  process.kill(postmaster, 'SIGKILL')
  await first.exited
  let started = false
  const next = startHere().then((postgres) => {
    started = true
    return postgres
  })
  // Each attempt has its own log, and the previous log is kept.
  const logs = ['postgres.log', 'postgres.log.1'].map((name) => join(dir, 'postgres', name))
  await until('the new one sees them', async () => {
    const texts = await Promise.all(logs.map((log) => readFile(log, 'utf8').catch(() => '')))
    return texts.some((text) => text.includes('pre-existing shared memory block'))
  })
  assert.equal(started, false)
  for (const pid of children) sendSignal(pid, 'SIGCONT')
  const postgres = await next
  assert.ok((await rowsOf(postgres.socketDir)).size > 0)
  await postgres.stop()
})

test('a start succeeds after a first start was killed while it created the cluster', async () => {
  /** Kills a first start when only some files of the cluster exist. Undefined when the kill was too late. */
  const killHalfWay = async (): Promise<string | undefined> => {
    const fresh = await mkdtemp(join(dir, 'fresh-'))
    const home = join(fresh, 'postgres')
    const first = startHolder({ dir: fresh })
    await until('some files are there', async () => {
      const names: string[] = await readdir(home).catch(() => [])
      const draft = names.find(isDraft)
      return names.includes('data') || (draft !== undefined && (await readdir(join(home, draft))).length > 5)
    })
    await first.kill()
    return existsSync(join(home, 'data')) ? undefined : fresh
  }
  let fresh: string | undefined
  await until('a start was killed half way', async () => {
    fresh = await killHalfWay()
    return fresh !== undefined
  })
  const home = join(fresh!, 'postgres')
  assert.equal((await readdir(home)).filter(isDraft).length, 1)

  const next = await startReady({ dir: fresh! })
  assert.equal(next.createdCluster, true)
  assert.deepEqual((await readdir(home)).filter(isDraft), [])
  assert.equal(await next.stop(), 0)
})

test('of two concurrent first starts, one creates the database and the other fails with the process that uses it', async () => {
  const fresh = await mkdtemp(join(dir, 'race-'))
  const holders = [1, 2].map(() => startHolder({ dir: fresh, wait: true }))
  for (const holder of holders) holder.go()
  const outcomes = await Promise.all(holders.map((holder) => holder.outcome))
  const winner = outcomes.findIndex(({ ready }) => ready)
  const [lost, won] = [outcomes[1 - winner], outcomes[winner]]
  assert.ok(lost && !lost.ready && won?.ready)
  assert.match(lost.message, new RegExp(`already running on ${fresh} \\(process ${holders[winner]!.pid}, since `))
  await withClient(won.socketDir, (client) => client.query('select 1'))
  assert.equal(await holders[winner]!.stop(), 0)
})
