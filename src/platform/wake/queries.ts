import type pg from 'pg'
import { sql } from '../database/database.ts'
import type { Db } from '../database/database.ts'
import type { WakeMessage } from './transport.ts'

// All orgs: a wake-up contains ids only and is a hint, which its receiver checks.

/** Prepares a connection that only listens and notifies. A lost notification is harmless, so no commit waits for the disk. */
export const listen = async (client: pg.Client, channels: string[]): Promise<void> => {
  const listens = channels.map((channel) => `listen ${client.escapeIdentifier(channel)}`)
  await client.query(['set synchronous_commit = off', ...listens].join('; '))
}

/** Sends all messages in one transaction that contains nothing else. */
export const notify = async (client: pg.Client, messages: WakeMessage[]): Promise<void> => {
  await client.query({
    name: 'notify',
    text: 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as message (channel, payload)',
    values: [messages.map(({ channel }) => channel), messages.map(({ payload }) => payload)],
  })
}

/** Identifies this database among all databases whose processes may share a Redis. */
export const findInstallation = async (db: Db): Promise<string> => {
  const row = await db.row<{ id: string }>(sql`
    -- all orgs: names the database itself
    select system_identifier || '.' || (select oid from pg_database where datname = current_database()) as id
    from pg_control_system()`)
  return row?.id ?? 'unknown'
}
