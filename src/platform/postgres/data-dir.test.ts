import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { canBeOrdinary, mustBeRoot, startHolder, startReady, temporaryDir } from '../../../test/support/holder.ts'
import { until } from '../../../test/support/until.ts'
import { findRunning, openDataDir, prepareDataDir } from './data-dir.ts'
import { StartError } from '../process/start-error.ts'

const refused = async (work: Promise<unknown>): Promise<StartError> => {
  const error: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(error instanceof StartError, `expected a StartError, got ${String(error)}`)
  assert.doesNotMatch(error.message, /\n/)
  return error
}

test('a data directory is private to its owner, and its parents are not changed', async () => {
  const base = await temporaryDir('data-dir')
  const dir = await prepareDataDir(join(base, 'parent', 'data'))
  assert.equal((await stat(dir)).mode & 0o777, 0o700)
  assert.notEqual((await stat(join(base, 'parent'))).mode & 0o001, 0)
  assert.deepEqual(await readdir(dir), [])
})

test('a second start fails with the process, start time and URL of the first, which continues', async () => {
  const dir = await temporaryDir('data-dir')
  const before = Date.now()
  const first = await openDataDir(dir)
  await first.update({ url: 'http://127.0.0.1:3000' })

  const second = await startHolder({ dir, dirOnly: true }).outcome
  assert.ok(!second.ready)
  const [, who, pid, since, url] =
    /^Atrium is already running on (\S+) \(process (\d+), since (\S+), at (\S+)\)$/.exec(second.message) ?? []
  assert.deepEqual([who, Number(pid), url], [dir, process.pid, 'http://127.0.0.1:3000'])
  assert.ok(Date.parse(since ?? '') >= before - 1)

  const running = await findRunning(dir)
  assert.deepEqual([running?.pid, running?.url, running?.purpose], [process.pid, 'http://127.0.0.1:3000', 'server'])
  await refused(openDataDir(dir))
  await first.release()
})

test('exactly one of several concurrent starts gets the data directory', async () => {
  const dir = await temporaryDir('data-dir')
  for (let round = 0; round < 2; round += 1) {
    const holders = Array.from({ length: 4 }, () => startHolder({ dir, dirOnly: true, wait: true }))
    for (const holder of holders) holder.go()
    const outcomes = await Promise.all(holders.map((holder) => holder.outcome))
    assert.equal(outcomes.filter(({ ready }) => ready).length, 1)
    for (const outcome of outcomes) if (!outcome.ready) assert.match(outcome.message, /already running on/)
    await Promise.all(holders.map((holder) => holder.kill()))
  }
})

test('a start after kill -9 succeeds, even when another program has the same process ID', async () => {
  const dir = await temporaryDir('data-dir')
  const holder = await startReady({ dir, dirOnly: true })
  assert.equal((await findRunning(dir))?.pid, holder.pid)
  await holder.kill()
  const left = JSON.parse(await readFile(join(dir, 'running.json'), 'utf8')) as object
  await writeFile(join(dir, 'running.json'), JSON.stringify({ ...left, pid: process.ppid }))

  assert.equal(await findRunning(dir), undefined)
  const next = await openDataDir(dir)
  assert.equal((await findRunning(dir))?.pid, process.pid)
  await next.release()
  assert.equal(await findRunning(dir), undefined)
})

test('the lock survives garbage collection of its file handle', async () => {
  const dir = await temporaryDir('data-dir')
  const holder = await startReady({ dir, dirOnly: true, forgetful: true })
  assert.match((await refused(openDataDir(dir))).message, new RegExp(`process ${holder.pid}`))
  await holder.kill()
})

test('a server that starts waits for a command to finish', async () => {
  const dir = await temporaryDir('data-dir')
  const command = await startReady({ dir, dirOnly: true, purpose: 'command' })
  let isOver = false
  const server = openDataDir(dir).finally(() => (isOver = true))
  // The only timer that runs while nobody else waits here: it has looked and will look again.
  await until('the server waits', () => isOver || process.getActiveResourcesInfo().includes('Timeout'))
  assert.equal(isOver, false)
  assert.equal((await findRunning(dir))?.purpose, 'command')
  await command.stop()
  await (await server).release()
})

test('looking for a running Atrium creates nothing', async () => {
  const dir = await temporaryDir('data-dir')
  assert.equal(await findRunning(join(dir, 'absent')), undefined)
  assert.equal(await findRunning(dir), undefined)
  assert.deepEqual(await readdir(dir), [])
})

test('an unusable data directory is rejected with a one-line message', async () => {
  const dir = await temporaryDir('data-dir')
  await writeFile(join(dir, 'file'), '')
  assert.match((await refused(openDataDir(join(dir, 'file')))).message, /file: it is not a directory\.$/)
  assert.match((await refused(openDataDir(join(dir, 'file', 'below')))).message, /not a directory\.$/)
  assert.deepEqual(await readdir(dir), ['file'])
})

test('a read-only data directory is rejected and not changed', async (t) => {
  if (!(await canBeOrdinary(t))) return
  const dir = await temporaryDir('data-dir', { ordinaryUser: true })
  const readOnly = join(dir, 'read-only')
  await mkdir(readOnly)
  await chmod(readOnly, 0o555)
  for (const target of [readOnly, join(readOnly, 'below')]) {
    const outcome = await startHolder({ dir: target, dirOnly: true }, { ordinaryUser: true }).outcome
    assert.ok(!outcome.ready)
    assert.equal(outcome.name, 'StartError')
    assert.match(outcome.message, /^Cannot use the data directory \S+: permission denied/)
    assert.match(outcome.hint ?? '', /DATA_DIR/)
  }
  assert.deepEqual(await readdir(readOnly), [])
})

test('a data directory of another user stays usable for that user after a start as root', async (t) => {
  if (!mustBeRoot(t) || !(await canBeOrdinary(t))) return
  const dir = await temporaryDir('data-dir', { ordinaryUser: true })
  await (await openDataDir(dir)).release()
  const his = await startReady({ dir, dirOnly: true }, { ordinaryUser: true })
  assert.equal(await his.stop(), 0)
})
