// The files of the previous version, from the history of the repository.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { fixtureVersions } from '../fixtures/database.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const fixtures = new URL('../fixtures/', import.meta.url)

export const historyHint = 'git fetch --unshallow, in a clone of the repository'

/** The migrations that are newer than the last released version, whose database is in test/fixtures. */
export const unreleasedMigrations = (): string[] => {
  const dump = gunzipSync(readFileSync(new URL(`database-${fixtureVersions().at(-1)}.sql.gz`, fixtures))).toString()
  const known = new Set(
    [...dump.matchAll(/INSERT INTO public\.schema_migrations VALUES \('([^']+)'/g)].map(([, name]) => name),
  )
  return readdirSync(join(root, 'migrations')).filter((name) => name.endsWith('.sql') && !known.has(name))
}

const git = async (...words: string[]): Promise<string> => (await run('git', words, { cwd: root })).stdout.trim()

/** The last commit before the first unreleased migration. Undefined when the clone does not contain it. */
export const findPreviousCommit = async (): Promise<string | undefined> => {
  const paths = unreleasedMigrations().map((name) => `migrations/${name}`)
  if (paths.length === 0) return undefined
  try {
    const added = await git('log', '--diff-filter=A', '--format=%H', '--', ...paths)
    const first = added.split('\n').at(-1)
    return first === undefined || first === '' ? undefined : await git('rev-parse', '--verify', '--quiet', `${first}^`)
  } catch {
    return undefined
  }
}

/** Writes the files of a commit to a directory, with the packages of this version. */
export const checkOut = async (commit: string, directory: string): Promise<URL> => {
  await mkdir(directory, { recursive: true })
  const archive = join(directory, 'files.tar')
  await git('archive', '--output', archive, commit, 'src', 'migrations', 'docs', 'package.json')
  await run('tar', ['-xf', archive, '-C', directory])
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  return pathToFileURL(`${directory}/`)
}
