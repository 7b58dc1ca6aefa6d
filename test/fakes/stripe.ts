// A fake of Stripe on loopback: the routes that Atrium calls, as strict as the real ones about authentication, content
// type, parameters and idempotency keys. Events are signed by the helper of Stripe's library.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after } from 'node:test'
import { Stripe } from 'stripe'

export const secretKey = 'sk_test_atrium'
export const webhookSecret = 'whsec_test_atrium'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

export interface StripeRequest {
  method: string
  path: string
  /** The form, with bracketed names as nested objects. */
  params: Json
  idempotencyKey: string | undefined
}

export interface FakeStripe {
  /** For STRIPE_API_BASE. */
  origin: string
  /** The requests that were carried out, oldest first, without repetitions under the same idempotency key. */
  requests: StripeRequest[]
  /** How often each idempotency key was sent. */
  attempts: Map<string, number>
  /** Forgets the responses of all idempotency keys, as Stripe may do after 24 hours. */
  forgetKeys(): void
  /** How the next off-session charges end; the last one stays. */
  charges: ('succeed' | 'decline' | 'process' | 'hang up' | 'fail')[]
  paymentIntents: Map<string, Json>
  /** The methods that customers have saved. */
  methods: Map<string, string[]>
  /** The payment of each invoice. */
  invoicePayments: Map<string, string>
  /** The paid invoices of each subscription, newest first. */
  invoices: Map<string, Json[]>
  refunds: Json[]
  /** The payments that a bank has withdrawn. */
  disputed: Set<string>
  /** The payments whose refunds are rejected. */
  unrefundable: Set<string>
  /** Pays a checkout session, as a person would, and returns it. */
  pay(sessionId: string, options?: { save?: boolean }): Json
  /** Ends a checkout session that nobody paid, as Stripe does after 24 hours. */
  expire(sessionId: string): void
}

/** How long ago the payments of invoices were made. */
export const invoicePaymentAgeSeconds = 3_600

const id = (prefix: string): string => `${prefix}_${randomBytes(9).toString('hex')}`

const parseForm = (text: string): Json => {
  const root: Json = {}
  for (const [key, value] of new URLSearchParams(text)) {
    const path = key.split(/\[|\]\[|\]/).filter((part) => part !== '')
    let at = root
    for (const part of path.slice(0, -1)) at = at[part] ??= {}
    at[path.at(-1)!] = value
  }
  return root
}

class Refusal extends Error {
  status: number
  body: Json
  constructor(status: number, error: Json) {
    super(error.message)
    this.status = status
    this.body = { error }
  }
}

const invalid = (message: string, param?: string): Refusal =>
  new Refusal(400, { type: 'invalid_request_error', message, ...(param ? { param } : {}) })

/** Stripe rejects unknown parameters instead of ignoring them. */
const only = (params: Json, allowed: string[]): void => {
  for (const name of Object.keys(params)) {
    if (!allowed.includes(name)) throw invalid(`Received unknown parameter: ${name}`, name)
  }
}

const integerOf = (value: unknown, name: string, min: number, max = 99_999_999): number => {
  const text = String(value)
  if (!/^\d+$/.test(text) || Number(text) < min || Number(text) > max) {
    throw invalid(`Invalid integer: ${text}`, name)
  }
  return Number(text)
}

const checkSession = (params: Json): number => {
  only(params, [
    'mode',
    'line_items',
    'success_url',
    'cancel_url',
    'client_reference_id',
    'customer',
    'customer_email',
    'customer_creation',
    'metadata',
    'payment_intent_data',
    'subscription_data',
  ])
  if (!['payment', 'subscription'].includes(params.mode)) throw invalid('mode is required', 'mode')
  if (!URL.canParse(params.success_url ?? '')) throw invalid('Not a valid URL', 'success_url')
  if (params.customer && (params.customer_email || params.customer_creation)) {
    throw invalid('You may only specify one of these parameters: customer, customer_email.')
  }
  if (params.mode === 'subscription' && (params.customer_creation || params.payment_intent_data)) {
    throw invalid('You can not pass this in subscription mode.')
  }
  const item = params.line_items?.['0']
  if (item?.quantity !== '1') throw invalid('line_items[0][quantity] is required')
  if (item.price) return 0
  const { currency, unit_amount: amount, product_data: product, recurring } = item.price_data ?? {}
  if (currency !== 'usd' || !product?.name) throw invalid('Missing required param: line_items[0][price_data]')
  if ((params.mode === 'subscription') !== (recurring?.interval === 'month')) throw invalid('recurring does not fit')
  return integerOf(amount, 'unit_amount', 50)
}

const signature = (payload: string, secret: string, at: number): string =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: at })

/** A body with the headers that Stripe would send, the signature included. */
export const signedBody = (
  body: string,
  secret = webhookSecret,
  signedAt = Math.floor(Date.now() / 1_000),
): { body: string; headers: Record<string, string> } => ({
  body,
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature': signature(body, secret, signedAt),
  },
})

/** An event as Stripe posts it: the body, and the headers with its signature. */
export const signedEvent = (
  type: string,
  object: object,
  options: { id?: string; createdAt?: number; secret?: string; signedAt?: number } = {},
): { body: string; headers: Record<string, string> } => {
  const now = Math.floor(Date.now() / 1_000)
  const body = JSON.stringify({
    id: options.id ?? id('evt'),
    object: 'event',
    api_version: '2026-10-28.endive',
    created: options.createdAt ?? now,
    livemode: false,
    pending_webhooks: 1,
    type,
    data: { object },
  })
  return signedBody(body, options.secret, options.signedAt)
}

const read = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

/** Starts a fake that is closed after the tests of the file. */
export const startFakeStripe = async (): Promise<FakeStripe> => {
  const sessions = new Map<string, Json>()
  const answers = new Map<string, { digest: string; status: number; body: Json }>()
  const fake: FakeStripe = {
    origin: '',
    requests: [],
    attempts: new Map(),
    forgetKeys: () => answers.clear(),
    charges: ['succeed'],
    paymentIntents: new Map(),
    methods: new Map(),
    invoicePayments: new Map(),
    invoices: new Map(),
    refunds: [],
    disputed: new Set(),
    unrefundable: new Set(),
    expire: (sessionId) => void Object.assign(sessions.get(sessionId), { status: 'expired', url: null }),
    pay: (sessionId, { save = true } = {}) => {
      const session = sessions.get(sessionId)
      if (!session) throw new Error(`no session ${sessionId}`)
      if (session.status !== 'open') throw new Error(`the session ${sessionId} is ${session.status}`)
      session.status = 'complete'
      session.url = null
      session.payment_status = 'paid'
      session.customer ??= id('cus')
      const method = save ? id('pm') : null
      const paymentIntent = {
        id: id('pi'),
        object: 'payment_intent',
        amount: session.amount_total,
        currency: 'usd',
        status: 'succeeded',
        created: Math.floor(Date.now() / 1_000),
        customer: session.customer,
        payment_method: method,
        setup_future_usage: save ? 'off_session' : null,
        metadata: session.payment_intent_metadata,
        last_payment_error: null,
      }
      fake.paymentIntents.set(paymentIntent.id, paymentIntent)
      if (session.mode === 'subscription') {
        session.subscription = id('sub')
        session.invoice = id('in')
        const invoice = {
          id: session.invoice,
          object: 'invoice',
          status: 'paid',
          amount_paid: session.amount_total,
          billing_reason: 'subscription_create',
          parent: { type: 'subscription_details', subscription_details: { subscription: session.subscription } },
        }
        fake.invoices.set(session.subscription, [invoice])
        fake.invoicePayments.set(session.invoice, paymentIntent.id)
        return session
      }
      session.payment_intent = paymentIntent.id
      if (method) fake.methods.set(session.customer, [method, ...(fake.methods.get(session.customer) ?? [])])
      return session
    },
  }

  const openSession = (params: Json): Json => {
    const amount = checkSession(params)
    const sessionId = id('cs_test')
    const session = {
      id: sessionId,
      object: 'checkout.session',
      mode: params.mode,
      status: 'open',
      payment_status: 'unpaid',
      amount_total: amount,
      currency: 'usd',
      client_reference_id: params.client_reference_id ?? null,
      customer: params.customer ?? null,
      metadata: params.metadata ?? {},
      payment_intent: null,
      subscription: null,
      url: `https://checkout.stripe.test/c/pay/${sessionId}`,
    }
    sessions.set(sessionId, { ...session, payment_intent_metadata: params.payment_intent_data?.metadata ?? {} })
    return session
  }

  const charge = (params: Json): Json => {
    only(params, [
      'amount',
      'currency',
      'customer',
      'payment_method',
      'off_session',
      'confirm',
      'description',
      'metadata',
    ])
    const amount = integerOf(params.amount, 'amount', 50)
    if (params.currency !== 'usd') throw invalid('Invalid currency', 'currency')
    if (params.off_session !== 'true' || params.confirm !== 'true') throw invalid('off_session needs confirm')
    if (!fake.methods.get(params.customer)?.includes(params.payment_method)) {
      throw new Refusal(400, {
        type: 'invalid_request_error',
        code: 'resource_missing',
        message: 'No such PaymentMethod',
      })
    }
    const how = fake.charges.length > 1 ? fake.charges.shift()! : fake.charges[0]!
    if (how === 'fail') throw new Refusal(500, { type: 'api_error', message: 'Something went wrong' })
    const intent: Json = {
      id: id('pi'),
      object: 'payment_intent',
      amount,
      currency: 'usd',
      status: how === 'decline' ? 'requires_payment_method' : how === 'process' ? 'processing' : 'succeeded',
      created: Math.floor(Date.now() / 1_000),
      customer: params.customer,
      payment_method: params.payment_method,
      setup_future_usage: null,
      metadata: params.metadata ?? {},
      last_payment_error: null,
    }
    fake.paymentIntents.set(intent.id, intent)
    if (how === 'decline') {
      const error = {
        type: 'card_error',
        code: 'card_declined',
        decline_code: 'insufficient_funds',
        message: 'Your card has insufficient funds.',
      }
      intent.last_payment_error = error
      throw new Refusal(402, { ...error, payment_intent: intent })
    }
    if (how === 'hang up') throw new Error('hang up')
    return intent
  }

  /** Newest first, in pages. */
  const listIntents = (params: Json): Json => {
    only(params, ['customer', 'created', 'limit', 'starting_after'])
    only(params.created ?? {}, ['gte'])
    const limit = integerOf(params.limit ?? '10', 'limit', 1, 100)
    const since = integerOf(params.created?.gte ?? '0', 'created[gte]', 0, 99_999_999_999)
    const all = [...fake.paymentIntents.values()]
      .filter(({ customer, created }) => customer === params.customer && created >= since)
      .toReversed()
    const start = params.starting_after ? all.findIndex((one) => one.id === params.starting_after) + 1 : 0
    const data = all.slice(start, start + limit)
    return { object: 'list', data, has_more: start + limit < all.length, url: '/v1/payment_intents' }
  }

  const refund = (params: Json): Json => {
    only(params, ['payment_intent', 'reason'])
    if (!['duplicate', 'fraudulent', 'requested_by_customer'].includes(params.reason)) throw invalid('Invalid reason')
    const { payment_intent: intentId } = params
    const intent = fake.paymentIntents.get(intentId)
    const refused = (code: string): Refusal => new Refusal(400, { type: 'invalid_request_error', code, message: code })
    if (!intent) throw refused('resource_missing')
    if (fake.disputed.has(intentId)) throw refused('charge_disputed')
    if (fake.unrefundable.has(intentId)) throw refused('balance_insufficient')
    const made = fake.refunds.filter((one) => one.payment_intent === intentId && one.status !== 'failed')
    const amount = made.reduce((left, one) => left - one.amount, intent.amount)
    if (amount <= 0) throw refused('charge_already_refunded')
    const created = Math.floor(Date.now() / 1_000)
    const one = { id: id('re'), object: 'refund', amount, created, payment_intent: intentId, status: 'succeeded' }
    fake.refunds.unshift(one)
    return one
  }

  const carryOut = (method: string, path: string, params: Json): Json => {
    if (method === 'POST' && path === '/v1/checkout/sessions') return openSession(params)
    const [, sessionId, expire] = /^\/v1\/checkout\/sessions\/(cs_\w+)(\/expire)?$/.exec(path) ?? []
    const session = sessionId === undefined ? undefined : sessions.get(sessionId)
    if (method === 'GET' && session && !expire) return session
    if (method === 'POST' && session && expire) {
      if (session.status !== 'open') throw invalid('Only Checkout Sessions with a status in ["open"] can be expired.')
      return Object.assign(session, { status: 'expired', url: null })
    }
    if (method === 'POST' && path === '/v1/payment_intents') return charge(params)
    if (method === 'GET' && path === '/v1/payment_intents') return listIntents(params)
    const [, intentId] = /^\/v1\/payment_intents\/(pi_\w+)$/.exec(path) ?? []
    if (method === 'GET' && intentId) {
      const intent = fake.paymentIntents.get(intentId)
      if (intent) return intent
    }
    const [, customerId] = /^\/v1\/customers\/(cus_\w+)\/payment_methods/.exec(path) ?? []
    if (method === 'GET' && customerId) {
      const data = (fake.methods.get(customerId) ?? []).map((one) => ({ id: one, object: 'payment_method' }))
      return { object: 'list', data, has_more: false, url: path }
    }
    if (method === 'GET' && path === '/v1/invoice_payments') {
      only(params, ['invoice', 'status', 'limit'])
      const intent = fake.invoicePayments.get(params.invoice)
      const payment = { type: 'payment_intent', payment_intent: intent }
      const created = Math.floor(Date.now() / 1_000) - invoicePaymentAgeSeconds
      const times = { created, status_transitions: { paid_at: created, canceled_at: null } }
      const data = intent
        ? [{ object: 'invoice_payment', invoice: params.invoice, status: 'paid', payment, ...times }]
        : []
      return { object: 'list', data, has_more: false, url: path }
    }
    if (method === 'GET' && path === '/v1/invoices') {
      only(params, ['subscription', 'status', 'limit'])
      if (params.status !== 'paid') throw invalid('this stand-in lists paid invoices only')
      const data = fake.invoices.get(params.subscription) ?? []
      return { object: 'list', data, has_more: false, url: path }
    }
    if (method === 'POST' && path === '/v1/refunds') return refund(params)
    if (method === 'GET' && path === '/v1/refunds') {
      only(params, ['payment_intent', 'limit'])
      const data = fake.refunds.filter((one) => one.payment_intent === params.payment_intent)
      return { object: 'list', data, has_more: false, url: path }
    }
    const [, subscriptionId] = /^\/v1\/subscriptions\/(sub_\w+)$/.exec(path) ?? []
    if (method === 'POST' && subscriptionId) {
      only(params, ['cancel_at_period_end'])
      const canceledAt = Math.floor(Date.now() / 1_000)
      const state = { status: 'active', cancel_at_period_end: true, canceled_at: canceledAt }
      return { id: subscriptionId, object: 'subscription', ...state }
    }
    if (method === 'DELETE' && subscriptionId) {
      const canceledAt = Math.floor(Date.now() / 1_000)
      return { id: subscriptionId, object: 'subscription', status: 'canceled', canceled_at: canceledAt }
    }
    throw new Refusal(404, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: `No such thing: ${path}`,
    })
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await read(request)
    const { method = '', url = '', headers } = request
    const path = url.split('?', 1)[0]!
    const key = headers['idempotency-key'] as string | undefined
    const answer = (status: number, body: Json): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'request-id': id('req') })
      response.end(JSON.stringify(body))
    }
    if (headers.authorization !== `Bearer ${secretKey}`) {
      return answer(401, { error: { type: 'invalid_request_error', message: 'Invalid API Key provided' } })
    }
    if (!headers['stripe-version']) return answer(400, { error: { type: 'invalid_request_error', message: 'version' } })
    if (method === 'POST' && headers['content-type'] !== 'application/x-www-form-urlencoded') {
      return answer(415, { error: { type: 'invalid_request_error', message: 'content type' } })
    }
    if (method === 'POST' && key === undefined) {
      return answer(400, { error: { type: 'invalid_request_error', message: 'this stand-in wants idempotency keys' } })
    }
    const digest = createHash('sha256').update(`${method} ${path} ${text}`).digest('hex')
    const known = key === undefined ? undefined : answers.get(key)
    if (key !== undefined) fake.attempts.set(key, (fake.attempts.get(key) ?? 0) + 1)
    if (known && known.digest !== digest) {
      const message =
        'Keys for idempotent requests can only be used with the same parameters they were first used with.'
      return answer(400, { error: { type: 'idempotency_error', message } })
    }
    if (known) return answer(known.status, known.body)
    const remember = (status: number, body: Json): void => {
      if (key !== undefined) answers.set(key, { digest, status, body })
    }
    try {
      const params = parseForm(method === 'GET' ? (url.split('?', 2)[1] ?? '') : text)
      const body = carryOut(method, path, params)
      remember(200, body)
      fake.requests.push({ method, path, params, idempotencyKey: key })
      return answer(200, body)
    } catch (error) {
      if (!(error instanceof Refusal)) {
        // The request is carried out but its response is lost: a repetition under the same key gets the response.
        const last = [...fake.paymentIntents.values()].at(-1)
        remember(200, last)
        fake.requests.push({ method, path, params: parseForm(text), idempotencyKey: key })
        request.socket.destroy()
        return undefined
      }
      if (error.status < 500) {
        remember(error.status, error.body)
        fake.requests.push({ method, path, params: parseForm(text), idempotencyKey: key })
      }
      return answer(error.status, error.body)
    }
  }

  const server = createServer((request, response) => {
    void serve(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the stand-in does not listen')
  fake.origin = `http://127.0.0.1:${address.port}`
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return fake
}
