import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { childEnv, childrenWith } from '../../../test/support/child-processes.ts'
import { until } from '../../../test/support/until.ts'
import { runInSandbox, SandboxError, startProcess } from './sandbox.ts'

const folder = await mkdtemp(join(tmpdir(), 'atrium-sandbox-'))
after(() => rm(folder, { recursive: true }))

const programOf = async (name: string, code: string) => {
  const entry = join(folder, name)
  await writeFile(entry, code)
  return { entry, reads: [] }
}

test('a process that the kernel kills because no memory is left is reported as one that needs too much memory', async () => {
  const program = await programOf('waits.mjs', 'process.stdin.resume(); setInterval(() => {}, 1000)')
  const limits = { timeoutMs: 600_000, maxRssBytes: 1_073_741_824, niceness: 0 }
  const run = runInSandbox({ program, source: Readable.from(['x']), ...limits })
  const failed = assert.rejects(run, (error) => error instanceof SandboxError && error.failure === 'memory')
  const [pid = 0] = await until(
    () => childrenWith(program.entry),
    (pids) => pids.length > 0,
  )
  process.kill(pid, 'SIGKILL')
  await failed
})

test('a process that uses up its CPU time is ended by another signal than one that the kernel kills', async () => {
  const program = await programOf('loops.mjs', 'for (;;);')
  const child = startProcess(program, { heapMegabytes: 64, cpuSeconds: 1, niceness: 0 })
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.equal(signal, 'SIGXCPU')
})

test('a process that cannot be started is reported as such, and its input is closed', async () => {
  const { entry } = await programOf(
    'starts-none.mjs',
    `import { openSync } from 'node:fs'
    import { Readable } from 'node:stream'
    const { runInSandbox } = await import(${JSON.stringify(import.meta.resolve('./sandbox.ts'))})
    const source = Readable.from(['x'])
    try {
      for (;;) openSync('/dev/null')
    } catch {}
    const limits = { timeoutMs: 60_000, maxRssBytes: 1_073_741_824, niceness: 0 }
    const failed = await runInSandbox({ program: { entry: '/none', reads: [] }, source, ...limits }).catch((error) => error)
    console.log(JSON.stringify([failed.failure, failed.cause?.code, source.destroyed]))`,
  )
  const limited = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, entry]
  const { stdout } = await promisify(execFile)('/bin/sh', limited, { env: childEnv })
  assert.deepEqual(JSON.parse(stdout), ['start', 'EMFILE', true])
})
