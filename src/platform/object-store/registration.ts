import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { withLease } from '../database/lease.ts'
import { ApiError } from '../http/errors.ts'
import type { Log } from '../process/log.ts'
import { StartError } from '../process/start-error.ts'
import type { ObjectStore } from './object-store.ts'
import type { ObjectStoreSettings } from './open.ts'
import * as queries from './registration-queries.ts'

/** A store, and its name in messages. The name is not compared: one bucket can have several endpoints. */
export interface LocatedStore {
  objects: ObjectStore
  location: string
}

const identityKey = 'atrium/store-id'
const maxIdentityBytes = 64
const pollMs = 100

/** `disk host:/path` or `s3 endpoint/bucket`. */
export const locationOf = ({ dataDir, s3 }: ObjectStoreSettings): string => {
  if (s3 === undefined) return `disk ${hostname()}:${join(dataDir, 'objects')}`
  if (s3.endpoint === undefined) return `s3 AWS ${s3.region}/${s3.bucket}`
  // Without a user name or password.
  const { protocol, host, pathname } = new URL(s3.endpoint)
  return `s3 ${protocol}//${host}${pathname.replace(/\/+$/, '')}/${s3.bucket}`
}

const readIdentity = async (objects: ObjectStore): Promise<string | undefined> => {
  try {
    return (await text(await objects.get(identityKey, { start: 0, end: maxIdentityBytes - 1 }))).trim()
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

const writeIdentity = (objects: ObjectStore, identity: string): Promise<void> =>
  objects.put(identityKey, Readable.from([Buffer.from(`${identity}\n`)]), { contentType: 'text/plain' })

const adoptHint = 'npm run -s atrium -- storage adopt'

const otherStore = (registered: string | null, location: string): StartError =>
  new StartError(
    `The files of this database are in another object store (${registered}) than the one of this process (${location}).`,
    `All processes of a database need one store: one DATA_DIR on a shared file system, or one S3_BUCKET. If the files were moved or the old store is lost, stop all processes and run: ${adoptHint}`,
  )

const otherDatabase = (location: string): StartError =>
  new StartError(
    `The object store of this process (${location}) belongs to another database, whose files Atrium would delete.`,
    `Choose another DATA_DIR or S3_BUCKET. If this database replaces the other one, run: ${adoptHint}`,
  )

const isUnavailable = (error: unknown): boolean => error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE'

/** Throws a StartError when the store is not the registered one. Undefined: no store is registered yet. */
const compare = async (db: Database, { objects, location }: LocatedStore): Promise<'registered' | undefined> => {
  const row = await queries.findRegistration(db)
  const found = await readIdentity(objects).catch((error: unknown) => {
    // The location is the best evidence while the store cannot be read.
    if (isUnavailable(error) && row?.registeredAt && row.location !== location) throw otherStore(row.location, location)
    throw error
  })
  if (row?.registeredAt) {
    if (found === row.identity) return 'registered'
    throw otherStore(row.location, location)
  }
  if (found !== undefined && found !== row?.identity) throw otherDatabase(location)
  return undefined
}

/** Resolves without effect while another process registers its store. */
const register = async (db: Database, { objects, location }: LocatedStore): Promise<void> => {
  const claim = {
    when: queries.unregistered,
    set: queries.chooseIdentity(randomUUID()),
    returning: queries.identityColumn,
  }
  await withLease<{ identity: string }, void>(db, queries.registrationRow, claim, async (lease, { identity }) => {
    await writeIdentity(objects, identity)
    lease.check()
    await queries.confirm(db, location, lease.held)
  })
}

/**
 * Compares the store of this process with the one that is registered in the database, and registers the first one. Throws
 * a StartError when they differ: with two stores, each process would miss the files of the other, and the nightly
 * reconciliation deletes objects that have no row. Logs a warning when the store cannot be read, because an outage of the
 * store must not prevent the start.
 */
export const checkRegistration = async (db: Database, store: LocatedStore, log: Pick<Log, 'warn'>): Promise<void> => {
  try {
    while ((await compare(db, store)) === undefined) {
      await register(db, store)
      if ((await compare(db, store)) === undefined) await sleep(pollMs)
    }
  } catch (error) {
    if (!isUnavailable(error)) throw error
    log.warn({ err: error }, `the object store (${store.location}) cannot be reached: its identity was not checked`)
  }
}

/**
 * Compares like `checkRegistration` and changes nothing. Also rejects when the store cannot be read. Without `objects`, the
 * store does not exist yet. False: the next start registers the store.
 */
export const isRegistered = async (
  db: Database,
  { objects, location }: Pick<LocatedStore, 'location'> & { objects: ObjectStore | undefined },
): Promise<boolean> => {
  if (objects) return (await compare(db, { objects, location })) !== undefined
  const row = await queries.findRegistration(db)
  if (row?.registeredAt) throw otherStore(row.location, location)
  return false
}

/**
 * Makes the store the one of this database. It gets a new identity, so that processes with the previous store, and those
 * of another database with this store, do not start any more. Returns the location of the previous store.
 */
export const adoptStore = async (db: Database, { objects, location }: LocatedStore): Promise<string | null> => {
  const before = await queries.findRegistration(db)
  const identity = randomUUID()
  await writeIdentity(objects, identity)
  await queries.replace(db, identity, location)
  return before?.location ?? null
}
