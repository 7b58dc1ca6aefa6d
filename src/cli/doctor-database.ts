import * as queries from './doctor-queries.ts'
import type { Config } from '../config/config.ts'
import type { Db, Database } from '../platform/database/database.ts'
import { checkSecrets } from '../platform/encryption/keys.ts'
import { openObjectStore } from '../platform/object-store/open.ts'
import { isRegistered, locationOf } from '../platform/object-store/registration.ts'
import { tenantRole } from '../platform/database/tenant-role.ts'

// Leases use the clock of the database only. Signatures of requests and sign-in sessions use the clock of the process.
const maxClockDifferenceMs = 5_000

const namedShown = 3

/** Migrations alter every table, and a table can be altered by its owner only. */
export const checkRights = async (db: Db): Promise<string> => {
  const rights = await queries.findRights(db)
  if (!rights) throw new Error('the catalog of the database cannot be read')
  const { role, notOwned, canCreateTables, canCreateSchemas } = rights
  if (notOwned.length > 0) {
    const shown = notOwned.slice(0, namedShown).join(', ')
    const more = notOwned.length > namedShown ? `, and ${notOwned.length - namedShown} more` : ''
    throw new Error(
      `the role ${role} does not own ${shown}${more}; connect as the owner, or: reassign owned by <owner> to ${role}`,
    )
  }
  if (!canCreateTables) throw new Error(`the role ${role} cannot create tables: grant create on schema public to it`)
  if (!canCreateSchemas) throw new Error(`the role ${role} cannot create schemas: grant create on the database to it`)
  return `${role} owns the schema`
}

/** Fails when a further process could not open all of its connections. `needed` is what one process opens at most. */
export const checkConnections = async (db: Db, needed: number): Promise<string> => {
  const use = await queries.findConnectionUse(db)
  if (!use) throw new Error('the limits of the database cannot be read')
  const { allowed, used } = use
  const detail = `${used} of ${allowed} in use, one process opens up to ${needed}`
  if (allowed - used < needed) throw new Error(`${detail}; raise max_connections or lower DATABASE_POOL_SIZE`)
  return detail
}

/** Compares the clocks; half of the response time is added to the tolerance. */
export const checkClock = async (db: Db, now: () => number = Date.now): Promise<string> => {
  // The first statement waits for the connection.
  await queries.findClock(db)
  const before = now()
  const row = await queries.findClock(db)
  const after = now()
  const difference = (row?.ms ?? Number.NaN) - (before + after) / 2
  const seconds = (Math.abs(difference) / 1_000).toFixed(1)
  if (!(Math.abs(difference) <= maxClockDifferenceMs + (after - before) / 2)) {
    const side = difference > 0 ? 'ahead of' : 'behind'
    throw new Error(`the clock of the database is ${seconds} s ${side} this machine's; synchronize both by NTP`)
  }
  return `${seconds} s between this machine and the database`
}

/** Not an error: without the role, the conditions of the statements alone separate the orgs. */
export const checkTenantPolicies = async (db: Database): Promise<string> =>
  (await db.hasTenantPolicies())
    ? 'in use for the transactions of an org'
    : `not in use: the database user cannot use the role ${tenantRole}`

export const checkEncryption = async (db: Database, config: Config): Promise<string> => {
  const sealer = await checkSecrets(db, config)
  return sealer ? `the key ${sealer.currentKeyId} is valid` : 'no key exists; the first start creates one'
}

/** `hasDataDir`: whether the data directory exists; opening the store would create it. */
export const checkStoredFiles = async (db: Database, config: Config, hasDataDir: boolean): Promise<string> => {
  const location = locationOf(config)
  const isThere = config.s3 !== undefined || hasDataDir
  const objects = isThere ? await openObjectStore(config) : undefined
  return (await isRegistered(db, { objects, location }))
    ? `in ${location}`
    : `no object store is registered; the next start registers ${location}`
}
