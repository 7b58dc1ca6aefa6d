import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, lchown, mkdir, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { commandAs } from './binaries.ts'
import type { PostgresUser, PostgresBinaries } from './binaries.ts'
import { StartError } from '../process/start-error.ts'

const run = promisify(execFile)

const draftPrefix = 'data.new-'

// A new cluster takes 40 MB, and WAL files have 16 MB.
const freshClusterBytes = 150 * 1024 * 1024

// pg_trgm uses the character classes of the C library: with the locale "C", a trigram search does not find words with an
// umlaut. "C" is used only on machines without a UTF-8 locale.
const characterTypes = ['C.UTF-8', 'en_US.UTF-8', 'C']

/** The major version of the cluster in `dir`, or undefined when there is none (an empty directory is none). */
export const clusterVersion = async (dir: string): Promise<string | undefined> => {
  try {
    return (await readFile(join(dir, 'PG_VERSION'), 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const entries = await readdir(dir).catch(() => [])
    if (entries.length === 0) return undefined
    throw new StartError(`${dir} is not a PostgreSQL cluster: it has no PG_VERSION.`, 'Nothing in it was changed.')
  }
}

const initdb = async (binaries: PostgresBinaries, identity: PostgresUser, dir: string, user: string): Promise<void> => {
  for (const characterType of characterTypes) {
    const { file, args, options } = await commandAs(identity, 'KILL', binaries.initdb, [
      `--pgdata=${dir}`,
      `--username=${user}`,
      '--encoding=UTF8',
      '--locale=C',
      `--lc-ctype=${characterType}`,
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      '--auth-local=trust',
      '--auth-host=reject',
      '--no-instructions',
    ])
    try {
      await run(file, args, options)
      return
    } catch (error) {
      const output = (error as { stderr?: string }).stderr || (error as Error).message
      if (output.includes('invalid locale name') && characterType !== 'C') continue
      const line = output.split('\n').find((text) => /error:|fatal:|panic:/i.test(text)) ?? output
      throw new StartError(`Creating the database failed: ${line.trim()}.`, undefined, { cause: error })
    }
  }
}

const syncDirectory = async (dir: string): Promise<void> => {
  const handle = await open(dir)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Creates a cluster at `<home>/data`. It is created in another directory and renamed when it is complete and synced, so
 * that neither `kill -9` nor a full disk can leave an incomplete cluster.
 */
export const createCluster = async (
  binaries: PostgresBinaries,
  identity: PostgresUser,
  home: string,
  user: string,
): Promise<void> => {
  const { bavail, bsize } = await statfs(home)
  if (bavail * bsize < freshClusterBytes) {
    throw new StartError(
      `The disk of ${home} has ${Math.floor((bavail * bsize) / 1024 ** 2)} MB left; a new database needs ${freshClusterBytes / 1024 ** 2} MB.`,
      'Free some space, or point DATA_DIR to another disk.',
    )
  }
  const draft = join(home, `${draftPrefix}${randomBytes(6).toString('hex')}`)
  try {
    await mkdir(draft, { mode: 0o700 })
    if (identity.kind === 'user') await lchown(draft, identity.uid, identity.gid)
    await initdb(binaries, identity, draft, user)
    await rename(draft, join(home, 'data'))
    await syncDirectory(home)
  } catch (error) {
    await rm(draft, { recursive: true, force: true, maxRetries: 5 })
    throw error
  }
}

/** Removes the remains of an interrupted first start. */
export const removeDrafts = async (home: string): Promise<void> => {
  for (const entry of await readdir(home)) {
    if (!entry.startsWith(draftPrefix)) continue
    // An initdb that has outlived its parent may still be writing.
    await rm(join(home, entry), { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Changes the owner of the cluster. The top directory is last, so that its owner shows that the change is complete. */
export const giveCluster = async (dir: string, { uid, gid }: PostgresUser): Promise<void> => {
  for (const entry of await readdir(dir, { recursive: true })) await lchown(join(dir, entry), uid, gid)
  await lchown(dir, uid, gid)
  await chmod(dir, 0o700)
}

/**
 * Lets PostgreSQL, as another user, traverse a private directory: through its group where possible, so that no other user
 * gets access.
 */
export const letThrough = async (dir: string, identity: PostgresUser): Promise<void> => {
  const { uid, gid, mode } = await stat(dir)
  const groupPasses = gid === identity.gid && (mode & 0o010) !== 0
  if (uid === identity.uid || groupPasses || (mode & 0o001) !== 0) return
  const groupIsFree = (mode & 0o070) === 0
  if (groupIsFree) await lchown(dir, uid, identity.gid)
  await chmod(dir, (mode & 0o7777) | (groupIsFree || gid === identity.gid ? 0o010 : 0o001))
}
