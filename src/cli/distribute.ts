import { UsageError } from './command.ts'
import type { Command, Output } from './command.ts'
import { directOf, withConnection } from './database.ts'
import { plural } from '../platform/text/plural.ts'
import { distribute } from '../platform/database/distribute.ts'
import { migrate } from '../platform/database/migrate.ts'
import { requireSameDatabase } from '../platform/database/connections/requirements.ts'
import { StartError } from '../platform/process/start-error.ts'
import { readConfig } from '../read-config.ts'

const shardsOf = (given: string | undefined): number | undefined => {
  if (given === undefined) return undefined
  const shards = Number(given)
  if (!Number.isInteger(shards) || shards < 1 || shards > 1024) {
    throw new UsageError('--shards must be a whole number from 1 to 1024', 'distribute')
  }
  return shards
}

const run = async (env: NodeJS.ProcessEnv, given: string | undefined): Promise<Output> => {
  const shards = shardsOf(given)
  const config = readConfig(env)
  if (config.databaseUrl === undefined) {
    throw new StartError(
      'The embedded PostgreSQL cannot be distributed.',
      'Set DATABASE_URL to the coordinator of a Citus cluster.',
    )
  }
  return withConnection(
    config,
    () => undefined,
    async (connection) => {
      const direct = directOf(config) ?? connection
      if (direct !== connection) await requireSameDatabase(connection, direct)
      await migrate(direct)
      const done = await distribute(direct, { shards })
      const where = `${plural(done.shards, 'shard')} on ${plural(done.workers, 'worker')}`
      return {
        json: { distribution: done },
        lines:
          done.tables.length === 0
            ? [`All tables are distributed already: ${where}.`]
            : [
                `Distributed ${plural(done.tables.length, 'table')} by org_id: ${where}.`,
                ...done.tables.map((name) => `  ${name}`),
                `Dropped ${plural(done.droppedForeignKeys.length, 'foreign key')} to tables that stay on the coordinator:`,
                ...done.droppedForeignKeys.map((name) => `  ${name}`),
              ],
      }
    },
  )
}

export const distributeCommand: Command = {
  words: 'distribute',
  summary: 'Distribute the tables over the workers of a Citus cluster',
  options: {
    shards: { value: 'N', description: 'shards of each table, for the first time only; default: 32' },
  },
  details:
    'DATABASE_URL, or DATABASE_DIRECT_URL with a pooler, names the coordinator. Stop all other Atrium processes first. The change is one transaction; run again, the command distributes only tables that are new.',
  needs: 'environment',
  run: (env, args) => run(env, args.options['shards']),
}
