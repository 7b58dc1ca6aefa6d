import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Database } from '../platform/database/database.ts'
import { generateKey } from '../platform/key-format.ts'
import { hasOrgs, lockFirstStart } from './members/org-queries.ts'
import { createOrg } from './members/orgs.ts'
import { hashPassword, setPassword } from './sign-in/passwords.ts'
import { createSignInLink } from './sign-in/links.ts'

export interface Bootstrapped {
  /** True in the process that created the first org. */
  created: boolean
  /** The owner's API key when it was generated, not set by `BOOTSTRAP_API_KEY`. */
  apiKey?: string
  /** The file with the generated key. */
  apiKeyFile?: string
  /** The path of the owner's one-time sign-in link when `BOOTSTRAP_PASSWORD` is not set. */
  signInPath?: string
}

/** Writes a file atomically and durably, readable by its owner only. */
export const writePrivately = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.new`
  await rm(draft, { force: true })
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  // The directory is synced too, so that the name survives a power failure.
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/**
 * Creates the first org, workspace and owner in an empty database, in exactly one of the processes that start at the same
 * time. The generated key is written to its file before the commit: a crash in between leaves a key without an owner,
 * which the next start replaces, and never an owner whose key is lost.
 */
export const bootstrap = async (db: Database, config: Config, dataDir: string): Promise<Bootstrapped> => {
  if (await hasOrgs(db)) return { created: false }
  const { email, password, apiKey: configuredKey } = config.bootstrap
  const passwordHash = password === undefined ? undefined : await hashPassword(password)
  return db.transaction('all orgs', async (db) => {
    await lockFirstStart(db)
    if (await hasOrgs(db)) return { created: false }
    const key = configuredKey ?? generateKey(config.keyEnvironment)
    const owner = { email, name: 'Owner' }
    const { member } = await createOrg(db, { name: 'My organisation', owner, key, madeBy: 'first start' })
    const result: Bootstrapped = { created: true }
    if (passwordHash === undefined) result.signInPath = (await createSignInLink(db, member.userId, null)).path
    else await setPassword(db, member.userId, passwordHash)
    const apiKeyFile = join(dataDir, 'owner-api-key')
    if (configuredKey === undefined) {
      await writePrivately(apiKeyFile, `${key}\n`)
      return { ...result, apiKey: key, apiKeyFile }
    }
    await rm(apiKeyFile, { force: true })
    return result
  })
}
