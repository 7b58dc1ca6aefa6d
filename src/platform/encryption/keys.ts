import { randomBytes } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../database/database.ts'
import * as queries from './queries.ts'
import { createSealer, parseEncryptionKey, UnsealError } from './secrets.ts'
import type { EncryptionKey, Sealer } from './secrets.ts'
import { StartError } from '../process/start-error.ts'

export interface EncryptionKeyOptions {
  /** From the environment. Undefined: stored in the data directory. */
  encryptionKeys: EncryptionKey[] | undefined
  dataDir: string
}

const keyFile = (dataDir: string): string => join(dataDir, 'encryption-keys')

const readKeyFile = async (path: string): Promise<EncryptionKey[] | undefined> => {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StartError(`Cannot read the encryption keys in ${path}: ${(error as Error).message}.`, undefined, {
      cause: error,
    })
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const keys = lines.map(parseEncryptionKey)
  if (keys.length === 0 || !keys.every((key) => key !== undefined)) {
    throw new StartError(`${path} is damaged: each line must be id:base64 of 32 bytes.`, 'Restore it from a backup.')
  }
  return keys
}

const sync = async (path: string): Promise<void> => {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Creates the file with a new key. When two processes do so at the same time, both use the key of one of them. */
const generateKeyFile = async (path: string, dataDir: string): Promise<EncryptionKey[] | undefined> => {
  const id = `local-${randomBytes(4).toString('hex')}`
  const draft = `${path}.${id}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${id}:${randomBytes(32).toString('base64')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    // Unlike a rename, a link never replaces an existing file, and the linked file is complete.
    await link(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  await sync(dataDir)
  return readKeyFile(path)
}

const keysAreMissing = (path: string, keyId: string): StartError =>
  new StartError(
    `The database contains secrets encrypted with the key ${keyId}, but ${path} does not exist.`,
    'Restore that file from a backup, or set ENCRYPTION_KEYS to its keys. A new key cannot decrypt the stored secrets.',
  )

/** The configured keys, or those of the data directory, which are generated for a database without sealed values. */
export const loadEncryptionKeys = async (
  db: Database,
  { encryptionKeys, dataDir }: EncryptionKeyOptions,
): Promise<EncryptionKey[]> => {
  if (encryptionKeys) return encryptionKeys
  const path = keyFile(dataDir)
  const kept = await readKeyFile(path)
  if (kept) return kept
  const [check] = await queries.findChecks(db)
  // Another process that starts at the same time writes the file before it writes the check.
  const made = check ? await readKeyFile(path) : await generateKeyFile(path, dataDir)
  if (check && !made) throw keysAreMissing(path, check.keyId)
  if (!made) throw new StartError(`${path} disappeared while it was being created.`)
  return made
}

const knownText = 'atrium'
const placeOf = (keyId: string) => ({ table: 'encryption_checks', column: 'sealed', orgId: '', rowId: keyId })

const checkKey = (sealer: Sealer, { keyId, sealed }: queries.CheckRow): void => {
  if (!sealer.keyIds.includes(keyId)) {
    throw new StartError(
      `The database contains secrets encrypted with the key ${keyId}, which is not configured (configured: ${sealer.keyIds.join(', ')}).`,
      'Add the key to the end of ENCRYPTION_KEYS. After `atrium reencrypt` you can remove it.',
    )
  }
  try {
    if (sealer.open(sealed, placeOf(keyId)) === knownText) return
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
  }
  throw new StartError(
    `The encryption key ${keyId} is not the key with this id that encrypted the secrets in the database.`,
    'Set the right key in ENCRYPTION_KEYS, or restore the data directory and the database from the same backup.',
  )
}

/** Opens the sealer. Throws a StartError when the keys do not match the database. */
export const openSecrets = async (db: Database, options: EncryptionKeyOptions): Promise<Sealer> => {
  const sealer = createSealer(await loadEncryptionKeys(db, options))
  const { currentKeyId } = sealer
  const known = await queries.findChecks(db)
  for (const check of known) checkKey(sealer, check)
  if (known.some((check) => check.keyId === currentKeyId)) return sealer
  await db.transaction('all orgs', async (db) => {
    await queries.lockChecks(db)
    const checks = await queries.findChecks(db)
    for (const check of checks) checkKey(sealer, check)
    if (checks.some((check) => check.keyId === currentKeyId)) return
    await queries.insertCheck(db, { keyId: currentKeyId, sealed: sealer.seal(knownText, placeOf(currentKeyId)) })
  })
  return sealer
}

/** Like `openSecrets`, but changes nothing. Undefined when a start would generate the first key. */
export const checkSecrets = async (
  db: Database,
  { encryptionKeys, dataDir }: EncryptionKeyOptions,
): Promise<Sealer | undefined> => {
  const path = keyFile(dataDir)
  const keys = encryptionKeys ?? (await readKeyFile(path))
  const known = await queries.findChecks(db)
  if (keys === undefined) {
    if (known[0]) throw keysAreMissing(path, known[0].keyId)
    return undefined
  }
  const sealer = createSealer(keys)
  for (const check of known) checkKey(sealer, check)
  return sealer
}
