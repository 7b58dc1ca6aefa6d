import assert from 'node:assert/strict'
import { signStandardWebhook, standardKey } from '../../src/platform/signatures/standard-webhooks.ts'
import type { Answer, TestActor, TestApp } from '../harness.ts'

/** Allows forwarding to the endpoints of the tests. */
export const openLoopback = { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' }

export interface MadeWebhook {
  id: string
  secret: string
  receivePath: string
  /** The webhook in the response. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
  record: any
}

export const createWebhook = async (app: TestApp, as: TestActor, body: object = {}): Promise<MadeWebhook> => {
  const answer = await app.call('POST', '/api/v1/webhooks', { as, json: { name: 'Orders', ...body } })
  assert.equal(answer.status, 201, answer.text)
  const { id, secret, receiveUrl } = answer.body.data
  return { id, secret, receivePath: new URL(receiveUrl).pathname, record: answer.body.data }
}

let count = 0
/** An id that is unique in this process. */
export const freshId = (): string => `msg_${process.pid}_${(count += 1)}`

export const signed = (secret: string, body: string | Buffer, id = freshId(), nowMs = Date.now()) => {
  const key = standardKey(secret)
  assert.ok(key, 'a secret of Standard Webhooks')
  return { 'content-type': 'application/json', ...signStandardWebhook(key, id, Buffer.from(body), nowMs) }
}

/** Sends a signed event to the webhook. */
export const deliver = (
  app: TestApp,
  webhook: MadeWebhook,
  payload: unknown,
  options: { id?: string; nowMs?: number; headers?: Record<string, string> } = {},
): Promise<Answer> => {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const headers = { ...signed(webhook.secret, body, options.id, options.nowMs), ...options.headers }
  return app.call('POST', webhook.receivePath, { body, headers })
}

/** Sends an event that must be accepted; returns its id. */
export const accept = async (app: TestApp, webhook: MadeWebhook, payload: unknown, id?: string): Promise<string> => {
  const answer = await deliver(app, webhook, payload, id === undefined ? {} : { id })
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data.eventId
}

export const read = async (app: TestApp, as: TestActor, path: string) => {
  const answer = await app.call('GET', `/api/v1/webhooks${path}`, { as })
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data
}

export const deliveriesOf = async (app: TestApp, as: TestActor, webhook: MadeWebhook) =>
  (await read(app, as, `/${webhook.id}/deliveries`)).items

export const eventsOf = async (app: TestApp, as: TestActor, webhook: MadeWebhook) =>
  (await read(app, as, `/${webhook.id}/events`)).items
