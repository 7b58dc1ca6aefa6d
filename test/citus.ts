import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { distribute } from '../src/platform/database/distribute.ts'

/** A machine of a Citus cluster. */
export interface CitusNode {
  host: string
  port: number
}

/** The template of a run. Runs may share a cluster, which several developers use. */
export const clusterTemplate = (): string => (process.env['ATRIUM_TEST_CITUS_TEMPLATE'] ??= newName('template'))

const newName = (kind: string): string => `${kind}_${randomBytes(8).toString('hex')}`

/** The coordinator that `ATRIUM_TEST_CITUS_URL` names, as a connection, and the machines of its cluster. */
export interface CitusCluster {
  coordinator: pg.ClientConfig
  /** The coordinator first. */
  nodes: CitusNode[]
}

/** A small number, because each shard of each table is a file that every test database copies. */
const shards = 4

const run = async (connection: pg.ClientConfig, ...texts: string[]): Promise<void> => {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    for (const text of texts) await client.query(text)
  } finally {
    await client.end()
  }
}

/** The cluster that the tests use, or undefined. `npm test` passes its machines to the test files. */
export const clusterOf = (connection: pg.ClientConfig): CitusCluster | undefined => {
  const given = process.env['ATRIUM_TEST_CITUS_NODES']
  return given === undefined
    ? undefined
    : { coordinator: connection, nodes: JSON.parse(given) as CitusCluster['nodes'] }
}

/** Reads the machines of a cluster from the metadata of its coordinator. */
export const findCluster = async (url: string): Promise<CitusCluster> => {
  const { hostname, port, username, password, pathname } = new URL(url)
  const coordinator: pg.ClientConfig = {
    host: hostname,
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    database: pathname.slice(1),
  }
  if (password !== '') coordinator.password = decodeURIComponent(password)
  const client = new pg.Client(coordinator)
  await client.connect()
  try {
    const { rows } = await client.query<CitusNode>(`
      select nodename as host, nodeport as port from pg_dist_node
      where noderole = 'primary' and isactive and shouldhaveshards and groupid > 0 order by nodeid`)
    if (rows.length === 0) throw new Error('the coordinator of ATRIUM_TEST_CITUS_URL has no worker')
    return { coordinator, nodes: [{ host: hostname, port: Number(port || 5432) }, ...rows] }
  } finally {
    await client.end()
  }
}

const at = ({ coordinator }: CitusCluster, node: CitusNode, database: string): pg.ClientConfig => ({
  ...coordinator,
  ...node,
  database,
})

/** Runs statements in the database `postgres` of every machine. */
const everywhere = async (cluster: CitusCluster, ...texts: string[]): Promise<void> => {
  await Promise.all(cluster.nodes.map((node) => run(at(cluster, node, 'postgres'), ...texts)))
}

/** Creates an empty database on every machine and joins them to a cluster of their own. */
export const createClusterDatabase = async (cluster: CitusCluster, name: string): Promise<void> => {
  await everywhere(cluster, `create database ${name}`)
  for (const node of cluster.nodes) await run(at(cluster, node, name), 'create extension citus')
  const [coordinator, ...workers] = cluster.nodes as [CitusNode, ...CitusNode[]]
  await run(
    at(cluster, coordinator, name),
    `select citus_set_coordinator_host('${coordinator.host}', ${coordinator.port})`,
    ...workers.map(({ host, port }) => `select citus_add_node('${host}', ${port})`),
  )
}

const objectInUse = '55006'
const dropAttempts = 12

/** `force` waits five seconds for the ended connections, which is not enough for Citus's own ones on a busy machine. */
const dropDatabase = async (connection: pg.ClientConfig, name: string): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      await run(connection, `drop database if exists ${name} with (force)`)
      return
    } catch (error) {
      if ((error as pg.DatabaseError).code !== objectInUse || attempt === dropAttempts) throw error
    }
  }
}

export const dropClusterDatabase = async (cluster: CitusCluster, name: string): Promise<void> => {
  await Promise.all(cluster.nodes.map((node) => dropDatabase(at(cluster, node, 'postgres'), name)))
}

/** Distributes a migrated database and prepares it for copies: nothing may be connected to a template. */
export const distributeTemplate = async (cluster: CitusCluster, name: string): Promise<void> => {
  await distribute({ ...cluster.coordinator, database: name }, { shards })
  await everywhere(
    cluster,
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`,
  )
}

/**
 * Copies a distributed database on every machine. The metadata names tables by their OIDs and machines by their
 * addresses, which the copies share with the template. Settings of a database are not copied.
 */
export const cloneClusterDatabase = async (cluster: CitusCluster, template: string, name: string): Promise<void> => {
  await everywhere(cluster, `create database ${name} template ${template} strategy file_copy`)
  await run(
    { ...cluster.coordinator, database: 'postgres' },
    `do $$
    declare setting text;
    begin
      for setting in
        select unnest(setconfig) from pg_db_role_setting
        where setdatabase = (select oid from pg_database where datname = '${template}') and setrole = 0
      loop
        execute format('alter database ${name} set %s = %L', split_part(setting, '=', 1), split_part(setting, '=', 2));
      end loop;
    end $$`,
  )
}
