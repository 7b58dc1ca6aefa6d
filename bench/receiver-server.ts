// Two servers for bench/connectors.ts and bench/webhooks.ts, selected by BENCH_SERVER. `atrium`: the API without
// workers, so that enqueued jobs stay and can be counted. `baseline`: a bare Fastify route that inserts the body durably, and nothing else.
import fastify from 'fastify'
import pg from 'pg'
import { parseConfig } from '../src/config/config.ts'
import { openDeps } from '../src/deps.ts'
import { createLog } from '../src/platform/process/log.ts'
import { buildServer } from '../src/server.ts'

const connection = JSON.parse(process.env['BENCH_CONNECTION'] ?? '{}') as pg.ClientConfig

const startAtrium = async (): Promise<string> => {
  const { deps } = await openDeps(parseConfig(process.env), connection, createLog('error'))
  await deps.jobs.start({ work: false })
  deps.publisher.start()
  const app = await buildServer(deps)
  return app.listen({ host: '127.0.0.1', port: 0 })
}

const startBaseline = async (): Promise<string> => {
  const pool = new pg.Pool({ ...connection, max: 10 })
  const app = fastify({ logger: false })
  app.post('/insert', async (request) => {
    await pool.query({
      name: 'baseline',
      text: 'insert into baseline_events (body) values ($1)',
      values: [JSON.stringify(request.body)],
    })
    return { success: true, data: { received: true } }
  })
  return app.listen({ host: '127.0.0.1', port: 0 })
}

const url = await (process.env['BENCH_SERVER'] === 'baseline' ? startBaseline() : startAtrium())
process.on('SIGTERM', () => process.exit(0))
console.log(`listening on ${url}`)
