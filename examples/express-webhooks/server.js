// Receives Atrium's events, verifies their signatures, and processes each event once.
import { DatabaseSync } from 'node:sqlite'
import express from 'express'
import { verifyEvent, WebhookVerificationError } from '@atrium/client'

const { PORT = '4000', DATABASE = 'events.db', WEBHOOK_SECRET = '' } = process.env
// While a secret is rotated: both, separated by a comma.
const secrets = WEBHOOK_SECRET.split(',').filter((secret) => secret !== '')
if (secrets.length === 0) throw new Error('Set WEBHOOK_SECRET to the secret of the event endpoint (whsec_…).')

const database = new DatabaseSync(DATABASE)
database.exec(`
  create table if not exists processed_events (id text primary key, processed_at text not null);
  create table if not exists agents (id text primary key, name text not null)`)
const remember = database.prepare('insert or ignore into processed_events values (?, ?)')
const saveAgent = database.prepare(
  'insert into agents values (?, ?) on conflict (id) do update set name = excluded.name',
)
const deleteAgent = database.prepare('delete from agents where id = ?')

/** Keeps a list of agents. Everything that it does is part of the transaction. */
const processEvent = ({ type, subject, data }) => {
  if (type === 'agent.created' || type === 'agent.updated') saveAgent.run(subject.id, data.name)
  if (type === 'agent.deleted') deleteAgent.run(subject.id)
}

/**
 * Atrium delivers an event at least once: it repeats a delivery when it did not get our response. The id of the event is
 * stored in the transaction of its effect, so a repetition changes nothing and a crash loses nothing.
 */
const processOnce = (event) => {
  database.exec('begin immediate')
  try {
    const isNew = remember.run(event.id, new Date().toISOString()).changes === 1
    if (isNew) processEvent(event)
    database.exec('commit')
    return isNew
  } catch (error) {
    database.exec('rollback')
    throw error
  }
}

const app = express()

// The signature covers the bytes of the body, so it is not parsed by express.json().
app.post('/events', express.raw({ type: () => true, limit: '1mb' }), async (request, response) => {
  let event
  try {
    event = await verifyEvent({ body: request.body ?? '', headers: request.headers }, secrets)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    response.status(401).json({ error: error.message })
    return
  }
  const isNew = processOnce(event)
  console.log(isNew ? 'processed' : 'repeated', event.type, event.id)
  response.status(204).end()
})

// Any other error is a 500, and Atrium repeats the delivery later.
app.use((error, _request, response, _next) => {
  console.error(error)
  response.status(500).json({ error: 'The event could not be processed.' })
})

const server = app.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}/events`),
)
