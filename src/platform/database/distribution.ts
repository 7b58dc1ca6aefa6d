import type pg from 'pg'
import type { QueryArrayConfig } from 'pg'

type Runner = (config: QueryArrayConfig) => Promise<pg.QueryArrayResult>

/** Whether tables are distributed by `org_id` over several servers. `run` sends the question on a connection that the caller has. */
export type AskDistribution = (run: Runner) => Promise<boolean>

// The extension alone decides: statements for a distributed schema are correct on other schemas, only slower.
const question = `select exists (select from pg_extension where extname = 'citus')`

/** Asks once. The schema is distributed while no server runs (`atrium distribute`). */
export const askDistribution = (): AskDistribution => {
  let known: Promise<boolean> | undefined
  return (run) =>
    (known ??= run({ text: question, rowMode: 'array' }).then(
      ({ rows }) => rows[0]?.[0] === true,
      (error: unknown) => {
        known = undefined
        throw error
      },
    ))
}

/**
 * Makes a connection use generic plans, unless the schema is distributed: Citus selects the shard by the values of the
 * parameters, which a generic plan does not have.
 */
export const preferGenericPlans = async (client: pg.ClientBase): Promise<void> => {
  await client.query(`
    select set_config('plan_cache_mode', 'force_generic_plan', false)
    where not exists (select from pg_extension where extname = 'citus')`)
}
