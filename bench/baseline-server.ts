// The baselines for requests: Fastify and PostgreSQL without authentication, rate limits or metrics.
import fastify from 'fastify'
import pg from 'pg'

const connection = JSON.parse(process.env['BASELINE_CONNECTION'] ?? '{}') as pg.ClientConfig
const agentId = process.env['BASELINE_AGENT_ID'] ?? ''
const clients = await Promise.all(
  [0, 1].map(async () => {
    const client = new pg.Client({ ...connection, pipeline: true })
    await client.connect()
    return client
  }),
)

const text = { type: 'string' }
const response = {
  200: {
    type: 'object',
    properties: {
      success: { type: 'boolean' },
      data: { type: 'object', properties: { id: text, name: text, slug: text, model: text, createdAt: text } },
    },
  },
}
const app = fastify({ logger: false })

const fixed = {
  id: agentId,
  name: 'Atrium Assistant',
  slug: 'assistant',
  model: 'atrium/demo',
  createdAt: '2026-01-01T00:00:00.000Z',
}
app.get('/bare/:id', { schema: { response } }, async () => ({ success: true, data: fixed }))

let turn = 0
app.get<{ Params: { id: string } }>('/select/:id', { schema: { response } }, async (request) => {
  turn = 1 - turn
  const client = clients[turn] as pg.Client
  const { rows } = await client.query({
    name: 'baseline',
    text: 'select id, name, slug, model, created_at::text as "createdAt" from agents where id = $1 and deleted_at is null',
    values: [request.params.id],
  })
  return { success: true, data: rows[0] as unknown }
})

const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('SIGTERM', () => process.exit(0))
console.log(`listening on ${url}`)
