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
  /** True for the one process that made the first org. */
  created: boolean
  /** The owner's key, when it was generated; `BOOTSTRAP_API_KEY` is known to whoever set it. */
  apiKey?: string
  /** The file that keeps the generated key. */
  apiKeyFile?: string
  /** What follows the server's URL in the owner's one-time sign-in link, when `BOOTSTRAP_PASSWORD` is not set. */
  signInPath?: string
}

/** All or nothing, and on the disk when it resolves. Only its owner can read it. */
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
  // The name, too, must outlive a power failure.
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/**
 * Gives an empty database its first org, workspace and owner. Exactly one process does so, however many start at the
 * same instant. The generated key is in its file before the owner is in the database: a crash in between leaves a key
 * without an owner, which the next start replaces, and never an owner whose key nobody knows.
 */
export const bootstrap = async (db: Database, config: Config, dataDir: string): Promise<Bootstrapped> => {
  if (await hasOrgs(db)) return { created: false }
  const { email, password, apiKey: givenKey } = config.bootstrap
  const passwordHash = password === undefined ? undefined : await hashPassword(password)
  return db.transaction('all orgs', async (db) => {
    await lockFirstStart(db)
    if (await hasOrgs(db)) return { created: false }
    const key = givenKey ?? generateKey(config.keyEnvironment)
    const owner = { email, name: 'Owner' }
    const { member } = await createOrg(db, { name: 'My organisation', owner, key, madeBy: 'first start' })
    const answer: Bootstrapped = { created: true }
    if (passwordHash === undefined) answer.signInPath = (await createSignInLink(db, member.userId, null)).path
    else await setPassword(db, member.userId, passwordHash)
    const apiKeyFile = join(dataDir, 'owner-api-key')
    if (givenKey === undefined) {
      await writePrivately(apiKeyFile, `${key}\n`)
      return { ...answer, apiKey: key, apiKeyFile }
    }
    await rm(apiKeyFile, { force: true })
    return answer
  })
}
