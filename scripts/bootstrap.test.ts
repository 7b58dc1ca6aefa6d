import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { canBeOrdinary, isRoot, temporaryDir } from '../test/support/holder.ts'
import { until } from '../test/support/until.ts'

// Child processes of another user could not write into the folder of the coverage, and would report that.
delete process.env['NODE_V8_COVERAGE']

const source = new URL('.', import.meta.url)

/** Options of a start, and its result. */
interface Result {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

interface Options {
  cwd?: string
  env?: Record<string, string>
  nodeArgs?: string[]
  ordinaryUser?: boolean
}

// The variables of the npm that runs these tests must not be passed to the npm that they run.
const cleanEnv = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_/i.test(name)))

const collect = (command: string, args: string[], options: Options) => {
  const child = spawn(command, args, {
    cwd: options.cwd ?? '/',
    env: { ...cleanEnv, npm_node_execpath: process.execPath, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.ordinaryUser && isRoot ? { uid: 65_534, gid: 65_534 } : {}),
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text))
  }
  const done = new Promise<Result>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, ...output }))
  })
  return { pid: child.pid!, output, done }
}

const bootstrap = (root: string, options: Options = {}) =>
  collect(process.execPath, [...(options.nodeArgs ?? []), join(root, 'scripts/bootstrap.mjs')], options)

const runScript = (root: string, args: string[], options: Options = {}) =>
  collect('sh', [join(root, 'scripts/run.sh'), ...args], options)

/** A checkout with one dependency in a local folder, so that npm needs no network. */
const makeCheckout = async (name: string): Promise<string> => {
  const root = join(await temporaryDir('bootstrap'), name)
  await mkdir(join(root, 'scripts'), { recursive: true })
  await mkdir(join(root, 'dependency'))
  for (const file of ['bootstrap.mjs', 'run.sh']) await copyFile(new URL(file, source), join(root, 'scripts', file))
  const dependencies = { dependency: 'file:dependency' }
  await writeFile(join(root, 'package.json'), JSON.stringify({ name: 'checkout', version: '1.0.0', dependencies }))
  await writeFile(join(root, 'dependency/package.json'), JSON.stringify({ name: 'dependency', version: '1.0.0' }))
  await writeLockfile(root, {})
  return root
}

const writeLockfile = async (root: string, more: Record<string, object>): Promise<void> => {
  const packages = {
    '': { name: 'checkout', version: '1.0.0', dependencies: { dependency: 'file:dependency' } },
    dependency: { version: '1.0.0' },
    'node_modules/dependency': { resolved: 'dependency', link: true },
    ...more,
  }
  await writeFile(join(root, 'package-lock.json'), JSON.stringify({ name: 'checkout', lockfileVersion: 3, packages }))
}

/**
 * A fake npm that, like the real one, first empties node_modules and finally writes the copy of the lockfile, and in
 * between waits for the file `finish`. It logs its calls in `calls`.
 */
const slowNpm = async (root: string): Promise<{ npm_execpath: string }> => {
  const path = join(root, 'npm-cli.js')
  await writeFile(
    path,
    `const fs = require('node:fs')
fs.appendFileSync('calls', process.pid + ' ' + process.argv.slice(2).join(' ') + '\\n')
fs.rmSync('node_modules', { recursive: true, force: true })
fs.mkdirSync('node_modules')
fs.writeFileSync('node_modules/half', '')
const wait = setInterval(() => {
  if (!fs.existsSync('finish')) return
  clearInterval(wait)
  if (fs.readFileSync('finish', 'utf8') === 'fail') {
    console.log('said on stdout')
    console.error('said on stderr')
    process.exit(7)
  }
  fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json')
}, 10)
`,
  )
  return { npm_execpath: path }
}

const callsOf = async (root: string): Promise<string[]> =>
  (await readFile(join(root, 'calls'), 'utf8').catch(() => '')).split('\n').filter(Boolean)

const isAlive = async (pid: number): Promise<boolean> => {
  const child = spawn('ps', ['-o', 'stat=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] })
  let state = ''
  child.stdout.on('data', (text: Buffer) => (state += text.toString()))
  await once(child, 'close')
  return state.trim() !== '' && !state.startsWith('Z')
}

test('a clean checkout is installed once, from any folder and in a path with spaces', async () => {
  const root = await makeCheckout('my check out')
  const first = await bootstrap(root).done
  assert.equal(first.code, 0, first.stderr)
  assert.equal(first.stdout, `${process.execPath}\n`)
  assert.match(first.stderr, /^… installing dependencies[^\n]*\n✓ dependencies installed \(\d+ s\)\n$/)
  assert.ok(existsSync(join(root, 'node_modules/dependency/package.json')))

  const installed = await stat(join(root, 'node_modules/.package-lock.json'))
  const second = await bootstrap(root).done
  assert.deepEqual([second.code, second.stdout, second.stderr], [0, `${process.execPath}\n`, ''])
  assert.equal((await stat(join(root, 'node_modules/.package-lock.json'))).mtimeMs, installed.mtimeMs)
  assert.deepEqual(
    (await readdir(root)).filter((name) => name.startsWith('.')),
    [],
  )
})

test('a complete installation is used, and one that does not match the lockfile is repeated', async () => {
  const root = await makeCheckout('checkout')
  const env = await slowNpm(root)
  await writeFile(join(root, 'finish'), '')
  const settle = async () => {
    const { code, stderr } = await bootstrap(root, { env }).done
    assert.equal(code, 0, stderr)
    return (await callsOf(root)).length
  }
  await mkdir(join(root, 'node_modules'))
  await copyFile(join(root, 'package-lock.json'), join(root, 'node_modules/.package-lock.json'))
  assert.equal(await settle(), 0, 'npm was run by hand before')
  await writeLockfile(root, { 'node_modules/added': { version: '1.0.0', integrity: 'sha512-a' } })
  assert.equal(await settle(), 1, 'a dependency was added')
  await writeLockfile(root, { 'node_modules/added': { version: '1.0.1', integrity: 'sha512-b' } })
  assert.equal(await settle(), 2, 'a dependency was updated')
  await rm(join(root, 'node_modules/.package-lock.json'))
  assert.equal(await settle(), 3, 'an installation was interrupted')
  assert.equal(await settle(), 3, 'nothing changed')
})

test('optional packages may be missing for other platforms only', async () => {
  const root = await makeCheckout('checkout')
  const env = await slowNpm(root)
  await writeFile(join(root, 'finish'), '')
  await mkdir(join(root, 'node_modules'))
  await copyFile(join(root, 'package-lock.json'), join(root, 'node_modules/.package-lock.json'))
  const elsewhere = { version: '1.0.0', optional: true, os: ['plan9'], cpu: [process.arch] }
  await writeLockfile(root, { 'node_modules/elsewhere': elsewhere })
  assert.equal((await bootstrap(root, { env }).done).code, 0)
  assert.deepEqual(await callsOf(root), [])
  const here = { version: '1.0.0', optional: true, os: process.platform, cpu: process.arch }
  await writeLockfile(root, { 'node_modules/elsewhere': elsewhere, 'node_modules/here': here })
  assert.equal((await bootstrap(root, { env }).done).code, 0)
  assert.equal((await callsOf(root)).length, 1)
})

test('a package for the C library of this machine may not be missing', async (t) => {
  if (process.platform !== 'linux') return t.skip('C libraries are distinguished on Linux')
  const root = await makeCheckout('checkout')
  const env = await slowNpm(root)
  await writeFile(join(root, 'finish'), '')
  await mkdir(join(root, 'node_modules'))
  await copyFile(join(root, 'package-lock.json'), join(root, 'node_modules/.package-lock.json'))
  const report = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }
  const libcs = report.header.glibcVersionRuntime === undefined ? ['musl', 'glibc'] : ['glibc', 'musl']
  const packageFor = (libc: string | undefined) => ({
    version: '1.0.0',
    optional: true,
    os: ['linux'],
    cpu: [process.arch],
    libc: [libc],
  })
  await writeLockfile(root, { 'node_modules/elsewhere': packageFor(libcs[1]) })
  assert.equal((await bootstrap(root, { env }).done).code, 0)
  assert.deepEqual(await callsOf(root), [])
  await writeLockfile(root, { 'node_modules/here': packageFor(libcs[0]) })
  assert.equal((await bootstrap(root, { env }).done).code, 0)
  assert.equal((await callsOf(root)).length, 1)
})

/** A fake npm that installs the packages of the lockfile as scripts which run the real Node.js, and logs how it was run. */
const recordingNpm = async (root: string): Promise<{ npm_execpath: string }> => {
  const path = join(root, 'npm-cli.js')
  const script = `#!/bin/sh\nINSTALLED_NODE="$0" exec '${process.execPath}' "$@"\n`
  await writeFile(
    path,
    `const fs = require('node:fs')
const { root, isBroken } = process.env
const folder = process.cwd() === root ? 'root' : 'other'
const by = process.env.INSTALLED_NODE ? 'installed' : 'host'
fs.appendFileSync(root + '/calls', folder + ' ' + by + ' ' + process.env.PATH.includes('.atrium-install.lock.node') + '\\n')
if (folder === 'other' && isBroken) process.exit(1)
fs.rmSync('node_modules', { recursive: true, force: true })
const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
for (const place of Object.keys(packages).filter((name) => name.startsWith('node_modules/node-'))) {
  fs.mkdirSync(place + '/bin', { recursive: true })
  fs.writeFileSync(place + '/bin/node', ${JSON.stringify(script)}, { mode: 0o755 })
}
fs.mkdirSync('node_modules', { recursive: true })
fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json')
`,
  )
  return { npm_execpath: path }
}

test('an older Node.js installs the pinned one first, which then installs everything', async (t) => {
  if (process.platform !== 'linux') return t.skip('the name of the package depends on the platform')
  const name = `node-linux-${process.arch}`
  const entry = { version: '26.10.0', integrity: 'sha512-a', optional: true, os: 'linux', cpu: process.arch }
  for (const isBroken of ['', '1']) {
    const root = await makeCheckout('checkout')
    await writeLockfile(root, { [`node_modules/${name}`]: entry })
    const env = { ...(await recordingNpm(root)), root, isBroken }
    const { code, stdout, stderr } = await bootstrap(root, { env, nodeArgs: pretend('20.0.0') }).done
    assert.deepEqual([code, stdout], [0, `${join(root, 'node_modules', name, 'bin/node')}\n`], stderr)
    assert.deepEqual(
      await callsOf(root),
      isBroken ? ['other host false', 'root host false'] : ['other host false', 'root installed true'],
    )
    assert.deepEqual(
      (await readdir(root)).filter((one) => one.startsWith('.')),
      [],
    )
  }
})

test('development packages are installed in production unless ATRIUM_OMIT_DEV is set', async () => {
  const root = await makeCheckout('checkout')
  const env = { ...(await slowNpm(root)), NODE_ENV: 'production' }
  await writeFile(join(root, 'finish'), '')
  await bootstrap(root, { env }).done
  await rm(join(root, 'node_modules'), { recursive: true })
  await bootstrap(root, { env: { ...env, ATRIUM_OMIT_DEV: '1' } }).done
  const [full, lean] = await callsOf(root)
  assert.match(full ?? '', / ci --include=dev /)
  assert.match(lean ?? '', / ci --omit=dev /)
})

test('two concurrent starts run npm once', async () => {
  const root = await makeCheckout('checkout')
  const env = await slowNpm(root)
  const starts = [1, 2, 3].map(() => bootstrap(root, { env }))
  await until('npm was called', async () => (await callsOf(root)).length > 0)
  await writeFile(join(root, 'finish'), '')
  for (const { code, stdout, stderr } of await Promise.all(starts.map(({ done }) => done))) {
    assert.equal(code, 0, stderr)
    assert.equal(stdout, `${process.execPath}\n`)
  }
  assert.equal((await callsOf(root)).length, 1)
})

test('after kill -9 of an installation the next start waits for the running npm', async () => {
  const root = await makeCheckout('checkout')
  const env = await slowNpm(root)
  const killed = bootstrap(root, { env })
  await until(
    'all of them wait',
    async () => (await readFile(join(root, '.atrium-install.lock'), 'utf8').catch(() => '')).split('"pid"').length > 2,
  )
  process.kill(killed.pid, 'SIGKILL')
  const next = bootstrap(root, { env })
  await until('the next one waits', () => next.output.stderr.includes('waiting for another installation'))
  await writeFile(join(root, 'finish'), '')
  const { code, stderr } = await next.done
  assert.equal(code, 0, stderr)
  assert.equal((await callsOf(root)).length, 1)
})

test('after kill -9 of an installation and its npm the next start installs again', async () => {
  const root = await makeCheckout('checkout')
  const env = await slowNpm(root)
  const killed = bootstrap(root, { env })
  await until('half is there', () => existsSync(join(root, 'node_modules/half')))
  process.kill(killed.pid, 'SIGKILL')
  const npm = Number.parseInt((await callsOf(root))[0] ?? '', 10)
  process.kill(npm, 'SIGKILL')
  await killed.done
  await writeFile(join(root, 'finish'), '')
  const { code, stderr } = await bootstrap(root, { env }).done
  assert.equal(code, 0, stderr)
  assert.equal((await callsOf(root)).length, 2)
  assert.ok(existsSync(join(root, 'node_modules/.package-lock.json')))
  assert.ok(!existsSync(join(root, '.atrium-install.lock')))
})

test('a failed installation prints the output of npm and one line, and the next start tries again', async () => {
  const root = await makeCheckout('checkout')
  const env = await slowNpm(root)
  await writeFile(join(root, 'finish'), 'fail')
  const failed = await bootstrap(root, { env }).done
  assert.equal(failed.code, 1)
  assert.equal(failed.stdout, '')
  assert.match(failed.stderr, /said on stdout\n/)
  assert.match(failed.stderr, /said on stderr\n/)
  assert.match(failed.stderr, /\n✗ Installing the dependencies failed \(npm ci, exit code 7\)[^\n]*\n$/)
  await writeFile(join(root, 'finish'), '')
  const next = await bootstrap(root, { env }).done
  assert.equal(next.code, 0)
  assert.doesNotMatch(next.stderr, /said on/)
})

test('stopping a start stops its installation and releases the lock', async () => {
  const root = await makeCheckout('checkout')
  const env = await slowNpm(root)
  // Only the shell gets the signal, as from npm, so the installation must detect its end.
  const start = runScript(root, ['-p', '1'], { env })
  await until('half is there', () => existsSync(join(root, 'node_modules/half')))
  process.kill(start.pid, 'SIGTERM')
  const npm = Number.parseInt((await callsOf(root))[0] ?? '', 10)
  await until('npm is gone', async () => !(await isAlive(npm)))
  await until('the lock is gone', () => !existsSync(join(root, '.atrium-install.lock')))
  assert.equal((await start.done).signal, 'SIGTERM')

  await rm(join(root, 'node_modules'), { recursive: true })
  const interrupted = bootstrap(root, { env })
  await until('half is there', () => existsSync(join(root, 'node_modules/half')))
  process.kill(interrupted.pid, 'SIGINT')
  assert.equal((await interrupted.done).code, 130)
  assert.ok(!existsSync(join(root, '.atrium-install.lock')))
})

test('an installed checkout works read-only, and one that is not installed fails with one line', async (t) => {
  if (!(await canBeOrdinary(t))) return
  const root = await makeCheckout('checkout')
  await mkdir(join(root, 'node_modules'))
  await copyFile(join(root, 'package-lock.json'), join(root, 'node_modules/.package-lock.json'))
  const folders = [join(root, 'node_modules'), root]
  for (const folder of folders) await chmod(folder, 0o555)
  const works = await bootstrap(root, { ordinaryUser: true }).done
  assert.deepEqual([works.code, works.stdout, works.stderr], [0, `${process.execPath}\n`, ''])

  await chmod(root, 0o755)
  await chmod(join(root, 'node_modules'), 0o755)
  await rm(join(root, 'node_modules'), { recursive: true })
  await chmod(root, 0o555)
  const refused = await bootstrap(root, { ordinaryUser: true }).done
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^✗ The dependencies are not installed, and [^\n]+ is not writable[^\n]*\n$/)
  await chmod(root, 0o755)
})

/** Makes Node.js report another version. */
const pretend = (version: string): string[] => {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
}

test('an old Node.js fails with one line', async () => {
  const root = await makeCheckout('checkout')
  await mkdir(join(root, 'node_modules'))
  await copyFile(join(root, 'package-lock.json'), join(root, 'node_modules/.package-lock.json'))
  const ancient = await bootstrap(root, { nodeArgs: pretend('16.20.2') }).done
  assert.deepEqual([ancient.code, ancient.stdout], [1, ''])
  assert.match(ancient.stderr, /^✗ Atrium needs Node.js 18 or newer to install itself; this is 16\.20\.2\.\n$/)
  const old = await bootstrap(root, { nodeArgs: pretend('20.0.0') }).done
  assert.deepEqual([old.code, old.stdout], [1, ''])
  assert.match(old.stderr, /^✗ Atrium needs Node.js 26 or newer\.[^\n]*the installed version is 20\.0\.0[^\n]*\n$/)
})

test('a missing library of Node.js is named with the command that installs it', async (t) => {
  if (process.platform !== 'linux') return t.skip('libatomic is a library of Linux')
  const root = await makeCheckout('checkout')
  const name = `node-linux-${process.arch}`
  await mkdir(join(root, 'node_modules', name, 'bin'), { recursive: true })
  await copyFile(join(root, 'package-lock.json'), join(root, 'node_modules/.package-lock.json'))
  const missing = 'node: error while loading shared libraries: libatomic.so.1: cannot open shared object file'
  const node = join(root, 'node_modules', name, 'bin/node')
  await writeFile(node, `#!/bin/sh\necho '${missing}' >&2\nexit 127\n`, { mode: 0o755 })
  const { code, stdout, stderr } = await bootstrap(root, { nodeArgs: pretend('22.0.0') }).done
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(
    stderr,
    /^✗ [^\n]*libatomic\.so\.1[^\n]*the installed version is 22\.0\.0\. Install [^\n]*apt-get install libatomic1[^\n]*\n$/,
  )
})

test('run.sh replaces the shell with the script and keeps its output, exit code, signals and arguments', async () => {
  const root = await makeCheckout('my checkout')
  await mkdir(join(root, 'node_modules'))
  await copyFile(join(root, 'package-lock.json'), join(root, 'node_modules/.package-lock.json'))
  await writeFile(
    join(root, 'script.ts'),
    `const pid: number = process.pid
process.on('SIGTERM', () => { console.log('stopping'); process.exit(0) })
console.log(JSON.stringify([pid, process.argv.slice(2)]))
if (process.argv[2] !== 'wait') process.exit(3)
setInterval(() => undefined, 1000)
`,
  )
  const quick = runScript(root, ['script.ts', 'a b', '$c'])
  const result = await quick.done
  assert.deepEqual([result.code, result.stderr], [3, ''])
  assert.deepEqual(JSON.parse(result.stdout), [quick.pid, ['a b', '$c']])

  const child = spawn('sh', [join(root, 'scripts/run.sh'), 'script.ts', 'wait'], {
    env: { ...cleanEnv, npm_node_execpath: process.execPath },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const chunks: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => chunks.push(text))
  await until('the script says something', () => chunks.length > 0)
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'close'), [0, null])
  assert.match(chunks.join(''), /\nstopping\n$/)
})

test('.env is read by scripts under src only, and the environment takes precedence', async () => {
  const root = await makeCheckout('my checkout')
  for (const folder of ['node_modules', 'src']) await mkdir(join(root, folder))
  await copyFile(join(root, 'package-lock.json'), join(root, 'node_modules/.package-lock.json'))
  const print = `console.log([process.env['FROM_FILE'], process.env['FROM_BOTH']].join(' '))`
  for (const script of ['src/main.ts', 'scripts/check.ts']) await writeFile(join(root, script), print)
  const run = async (script: string): Promise<string> =>
    (await runScript(root, [script], { env: { FROM_BOTH: 'environment' } }).done).stdout.trim()
  assert.equal(await run('src/main.ts'), 'environment')
  await writeFile(join(root, '.env'), '# what we set\nFROM_FILE=file\nFROM_BOTH=file\n')
  assert.equal(await run('src/main.ts'), 'file environment')
  assert.equal(await run('scripts/check.ts'), 'environment')
})
