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
const nextClient = (): pg.Client => {
  turn = 1 - turn
  return clients[turn] as pg.Client
}

const columns = 'id, name, slug, model, created_at::text as "createdAt"'

app.get<{ Params: { id: string } }>('/select/:id', { schema: { response } }, async (request) => {
  const { rows } = await nextClient().query({
    name: 'select',
    text: `select ${columns} from agents where id = $1 and deleted_at is null`,
    values: [request.params.id],
  })
  return { success: true, data: rows[0] as unknown }
})

interface Waiting {
  id: string
  resolve(row: unknown): void
  reject(error: unknown): void
}

let waiting: Waiting[] = []

/** Sends the look-ups of one turn of the event loop as one statement, as Atrium does. */
const send = async (): Promise<void> => {
  const batch = waiting
  waiting = []
  try {
    const { rows } = await nextClient().query<{ place: string }>({
      name: 'batch',
      text: `select asked.place, ${columns}
             from unnest($1::uuid[]) with ordinality as asked (id, place) join agents using (id)
             where deleted_at is null`,
      values: [`{${batch.map(({ id }) => id).join(',')}}`],
    })
    const found: unknown[] = []
    for (const row of rows) found[Number(row.place) - 1] = row
    for (const [place, { resolve }] of batch.entries()) resolve(found[place])
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}

const lookUp = (id: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    // After all requests that have arrived in this turn.
    if (waiting.length === 0) setImmediate(() => void send())
    waiting.push({ id, resolve, reject })
  })

app.get<{ Params: { id: string } }>('/batch/:id', { schema: { response } }, async (request) => ({
  success: true,
  data: await lookUp(request.params.id),
}))

const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('SIGTERM', () => process.exit(0))
console.log(`listening on ${url}`)
