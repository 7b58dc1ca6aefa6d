import pg from 'pg'
import { StartError } from '../process/start-error.ts'
import { advisoryLock } from './advisory-lock.ts'
import { refusePooler } from './connections/requirements.ts'
import { tenantRole } from './tenant-role.ts'

/**
 * Tables that stay on the coordinator. Identity is read by every request and changes under one lock (the row of
 * `auth_epoch`), whose triggers deadlock when they reach other machines. The directory's key has no org_id. The others
 * do not belong to an org.
 */
export const coordinatorTables = new Set([
  'orgs',
  'users',
  'members',
  'invitations',
  'workspaces',
  'workspace_members',
  'api_keys',
  'auth_epoch',
  'sign_in_sessions',
  'sign_in_accounts',
  'sign_in_verifications',
  'two_factors',
  'sign_in_secret',
  'sign_in_links',
  'step_up_tokens',
  'sign_in_throttles',
  'encryption_checks',
  'payment_events',
  'payment_facts',
  'promotions',
  'directory',
  'partitioned_tables',
  'expired_partitions',
  'object_store_registration',
  'schema_migrations',
])

/** All others are co-located with it, so that a join by org_id stays on one machine. */
const anchor = 'billing_accounts'

/** Unique keys without org_id, which the directory replaces. Only the previous version needs them. */
export const replacedKeys = new Set(['linear_bindings_organization_key'])

/** Settings of the database that the statements need on a distributed schema. They apply to new connections. */
const settings: [name: string, value: string][] = [
  // The triggers of the ledger run on the machine that has the org's rows, which Citus cannot know.
  ['citus.enable_unsafe_triggers', 'on'],
  // Otherwise a statement fails after another one of its transaction has used several connections to a machine.
  ['citus.multi_shard_modify_mode', 'sequential'],
]

export interface Distribution {
  /** Names of the tables that this call distributed. */
  tables: string[]
  /** Foreign keys to tables of the coordinator, as `table.constraint`. They cannot exist between machines. */
  droppedForeignKeys: string[]
  shards: number
  workers: number
}

const rowsOf = async <Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> => (await client.query<Row>(text, values)).rows

/** Whether `atrium distribute` has distributed the schema of this database. */
export const isDistributed = async (client: pg.ClientBase): Promise<boolean> => {
  const [found] = await rowsOf<{ exists: boolean }>(
    client,
    `select exists (select from pg_extension where extname = 'citus') as exists`,
  )
  if (!found?.exists) return false
  const [row] = await rowsOf<{ yes: boolean }>(
    client,
    `select exists (select from pg_dist_partition where logicalrelid = to_regclass($1)) as yes`,
    [anchor],
  )
  return row?.yes === true
}

/** Applies the settings that statements on a distributed schema need, to this connection and to the database. */
export const applyDistributedSettings = async (client: pg.ClientBase): Promise<void> => {
  for (const [name, value] of settings) {
    await client.query(`select set_config($1, $2, false)`, [name, value])
    const [row] = await rowsOf<{ text: string }>(
      client,
      `select format('alter database %I set ', current_database()) as text`,
    )
    await client.query(`${row?.text ?? ''}${name} = '${value}'`)
  }
}

const listNewTables = (client: pg.ClientBase): Promise<{ name: string }[]> =>
  rowsOf<{ name: string }>(
    client,
    `select c.relname::text as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not (c.relname = any($1))
      and not exists (select from pg_dist_partition d where d.logicalrelid = c.oid)
    order by c.relname <> $2, c.relname`,
    [[...coordinatorTables], anchor],
  )

/** A constraint or trigger of a table, and the command that creates it again. */
interface Definition {
  table: string
  name: string
  text: string
}

/** Removes the foreign keys of and to these tables. Returns those to create again, and the names of the others. */
const dropForeignKeys = async (
  client: pg.ClientBase,
  tables: readonly string[],
): Promise<{ kept: Definition[]; dropped: string[] }> => {
  const found = await rowsOf<Definition & { crosses: boolean }>(
    client,
    `select k.conrelid::regclass::text as table, k.conname::text as name, pg_get_constraintdef(k.oid) as text,
      k.confrelid::regclass::text = any($2) or k.conrelid::regclass::text = any($2) as crosses
    from pg_constraint k
    where k.contype = 'f' and k.conparentid = 0 and k.connamespace = 'public'::regnamespace
      and (k.conrelid::regclass::text = any($1) or k.confrelid::regclass::text = any($1))
    order by 1, 2`,
    [tables, [...coordinatorTables]],
  )
  for (const { table, name } of found) await client.query(`alter table ${table} drop constraint ${name}`)
  return {
    kept: found.filter(({ crosses }) => !crosses),
    dropped: found.filter(({ crosses }) => crosses).map(({ table, name }) => `${table}.${name}`),
  }
}

/**
 * Removes the triggers of these tables, so that copying their rows runs none. Returns those to create again: not those
 * for entries of the directory, nor those for servers of versions that cannot use a distributed schema.
 */
const dropTriggers = async (client: pg.ClientBase, tables: readonly string[]): Promise<Definition[]> => {
  const found = await rowsOf<Definition & { isObsolete: boolean }>(
    client,
    `select t.tgrelid::regclass::text as table, t.tgname::text as name, pg_get_triggerdef(t.oid) as text,
      t.tgfoid in (to_regproc('directory_entry'), to_regproc('write_connector_event_keys')) as "isObsolete"
    from pg_trigger t where not t.tgisinternal and t.tgparentid = 0 and t.tgrelid::regclass::text = any($1)`,
    [tables],
  )
  for (const { table, name } of found) await client.query(`drop trigger ${name} on ${table}`)
  return found.filter(({ isObsolete }) => !isObsolete)
}

/**
 * Row-level security is not used on a distributed schema: the role would have to log in to every machine. Without its
 * privileges, the server finds that it cannot use the role, and works as the owner of the tables.
 */
const dropPolicies = async (client: pg.ClientBase, tables: readonly string[]): Promise<void> => {
  const protectedTables = await rowsOf<{ name: string }>(
    client,
    `select p.polrelid::regclass::text as name from pg_policy p
    where p.polname = 'tenant' and p.polrelid::regclass::text = any($1)`,
    [tables],
  )
  for (const { name } of protectedTables) {
    await client.query(`drop policy tenant on ${name}; alter table ${name} disable row level security`)
  }
  // Every start calls it. It would create the policies again, on every machine.
  await client.query(`
    create or replace function protect_tenant_tables() returns boolean language plpgsql as 'begin return false; end'`)
  const [role] = await rowsOf(client, 'select from pg_roles where rolname = $1', [tenantRole])
  if (!role) return
  for (const schema of await rowsOf<{ name: string }>(
    client,
    `select nspname::text as name from pg_namespace where nspname in ('public', 'pgboss')`,
  )) {
    await client.query(`revoke all on all tables in schema ${schema.name} from ${tenantRole}`)
    await client.query(`revoke all on all sequences in schema ${schema.name} from ${tenantRole}`)
  }
}

/** Copies the functions that statements use, so that every machine can run them. Triggers bring theirs. */
const distributeFunctions = async (client: pg.ClientBase): Promise<void> => {
  const functions = await rowsOf<{ name: string }>(
    client,
    `select p.oid::regprocedure::text as name from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.provolatile = 'i' and p.prokind = 'f'
      and p.prolang = (select oid from pg_language where lanname = 'sql')
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
  )
  for (const { name } of functions) await client.query(`select create_distributed_function($1)`, [name])
}

const distributeTables = async (
  client: pg.ClientBase,
  tables: readonly string[],
  shards: number | undefined,
): Promise<string[]> => {
  const { kept, dropped } = await dropForeignKeys(client, tables)
  const triggers = await dropTriggers(client, tables)
  await dropPolicies(client, tables)
  for (const key of replacedKeys) await client.query(`drop index if exists ${key}`)
  for (const table of tables) {
    if (table === anchor) {
      await client.query(
        `select create_distributed_table($1, 'org_id', colocate_with => 'none', shard_count => coalesce($2::integer, 32))`,
        [table, shards ?? null],
      )
    } else {
      await client.query(`select create_distributed_table($1, 'org_id', colocate_with => $2)`, [table, anchor])
    }
    // The rows are on the workers now; the coordinator's copies would be restored by no backup and read by nobody.
    await client.query('select truncate_local_data_after_distributing_table($1)', [table])
  }
  await distributeFunctions(client)
  for (const { table, name, text } of kept) await client.query(`alter table ${table} add constraint ${name} ${text}`)
  for (const { text } of triggers) await client.query(text)
  return dropped
}

/** Distributes the tables that migrations have added to a distributed schema. */
export const distributeNewTables = async (client: pg.ClientBase): Promise<void> => {
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [advisoryLock])
    const tables = (await listNewTables(client)).map(({ name }) => name)
    if (tables.length > 0) await distributeTables(client, tables, undefined)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

const checkCluster = async (client: pg.ClientBase): Promise<number> => {
  const [extension] = await rowsOf(client, `select from pg_extension where extname = 'citus'`)
  if (!extension) {
    throw new StartError(
      'The database has no Citus extension.',
      'Connect to the coordinator of a Citus cluster and run CREATE EXTENSION citus there first.',
    )
  }
  const [workers] = await rowsOf<{ count: number }>(
    client,
    `select count(*)::integer as count from pg_dist_node where noderole = 'primary' and isactive and shouldhaveshards`,
  )
  if (!workers?.count) {
    throw new StartError('The Citus cluster has no worker.', "Add one: select citus_add_node('host', 5432).")
  }
  const [others] = await rowsOf<{ count: number }>(
    client,
    `select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and application_name = 'atrium' and pid <> pg_backend_pid()`,
  )
  if (others?.count) {
    throw new StartError(
      `Atrium is running on this database (${others.count} connections).`,
      'Stop all its processes first: they would work with the plans and roles of the old schema.',
    )
  }
  return workers.count
}

/**
 * Distributes the tables of the tenants by org_id over the workers of a Citus cluster, in one transaction: a failure
 * changes nothing. Running it again distributes tables that are new. `shards` counts for the first time only; 32 by
 * default. Throws a StartError when the database is no coordinator, has no worker or is in use, and when it is
 * distributed into another number of shards.
 */
export const distribute = async (
  connection: pg.ClientConfig,
  { shards }: { shards?: number | undefined } = {},
): Promise<Distribution> => {
  const client = new pg.Client({ ...connection, application_name: 'atrium-distribute' })
  await client.connect()
  try {
    await refusePooler(client)
    await client.query('select pg_advisory_lock($1)', [advisoryLock])
    const workers = await checkCluster(client)
    await applyDistributedSettings(client)
    const tables = (await listNewTables(client)).map(({ name }) => name)
    let droppedForeignKeys: string[] = []
    await client.query('begin')
    try {
      droppedForeignKeys = tables.length === 0 ? [] : await distributeTables(client, tables, shards)
      const [current] = await rowsOf<{ count: number }>(
        client,
        `select count(*)::integer as count from pg_dist_shard where logicalrelid = $1::regclass`,
        [anchor],
      )
      const count = current?.count ?? 0
      if (shards !== undefined && shards !== count) {
        throw new StartError(
          `The schema is distributed into ${count} shards already.`,
          `Change it with: select alter_distributed_table('${anchor}', shard_count => ${shards}, cascade_to_colocated => true).`,
        )
      }
      await client.query('commit')
      return { tables, droppedForeignKeys, shards: count, workers }
    } catch (error) {
      await client.query('rollback').catch(() => undefined)
      throw error
    }
  } finally {
    await client.end()
  }
}
