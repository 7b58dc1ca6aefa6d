import type { Connector } from '../definition.ts'

const id = (prefix: string) => ({ type: 'string', pattern: `^${prefix}_[A-Za-z0-9]+$`, description: `${prefix}_…` })
const customer = id('cus')
const limit = { type: 'integer', minimum: 1, maximum: 100, description: 'Maximum number of results' }
const after = { type: 'string', description: 'ID of the last item of the previous page' }

export const connector: Connector = {
  slug: 'stripe',
  name: 'Stripe',
  category: 'business',
  description: "Customers, payments, invoices and subscriptions of the org's own Stripe account.",
  auth: {
    type: 'api_key',
    fields: [
      {
        key: 'secretKey',
        label: 'Secret or restricted key',
        required: true,
        secret: true,
        help: 'sk_… or rk_…; a restricted key must be able to read the account',
      },
    ],
    check: { from: { method: 'GET', path: '/v1/account' }, id: 'id', name: 'settings.dashboard.display_name' },
  },
  api: {
    baseUrl: 'https://api.stripe.com',
    headers: { authorization: 'Bearer {secretKey}' },
    errorMessage: ['error.message'],
  },
  tools: [
    {
      name: 'list_customers',
      description: 'Lists customers, newest first, optionally filtered by email address.',
      input: { email: { type: 'string', format: 'email' }, limit, starting_after: after },
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/v1/customers',
        query: { email: '{email}', limit: '{limit}', starting_after: '{starting_after}' },
      },
      output: ['data.id', 'data.name', 'data.email', 'data.created', 'data.balance', 'data.currency', 'has_more'],
    },
    {
      name: 'list_payments',
      description: 'Lists payments, newest first. Amounts are in the smallest unit of their currency.',
      input: { customer, limit, starting_after: after },
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/v1/payment_intents',
        query: { customer: '{customer}', limit: '{limit}', starting_after: '{starting_after}' },
      },
      output: [
        'data.id',
        'data.amount',
        'data.amount_received',
        'data.currency',
        'data.status',
        'data.customer',
        'data.description',
        'data.created',
        'has_more',
      ],
    },
    {
      name: 'list_invoices',
      description: 'Lists invoices, newest first. Amounts are in the smallest unit of their currency.',
      input: {
        customer,
        status: { type: 'string', enum: ['draft', 'open', 'paid', 'uncollectible', 'void'] },
        limit,
        starting_after: after,
      },
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/v1/invoices',
        query: {
          customer: '{customer}',
          status: '{status}',
          limit: '{limit}',
          starting_after: '{starting_after}',
        },
      },
      output: [
        'data.id',
        'data.number',
        'data.status',
        'data.total',
        'data.amount_remaining',
        'data.currency',
        'data.customer_email',
        'data.due_date',
        'data.hosted_invoice_url',
        'has_more',
      ],
    },
    {
      name: 'list_subscriptions',
      description: 'Lists subscriptions, newest first.',
      input: { customer, limit, starting_after: after },
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/v1/subscriptions',
        query: { customer: '{customer}', limit: '{limit}', starting_after: '{starting_after}' },
      },
      output: [
        'data.id',
        'data.status',
        'data.customer',
        'data.cancel_at_period_end',
        'data.items.data.price.id',
        'data.items.data.price.unit_amount',
        'data.items.data.current_period_end',
        'has_more',
      ],
    },
    {
      name: 'get_balance',
      description: 'Gets the available and pending balance by currency, in the smallest unit of each currency.',
      input: {},
      isReadOnly: true,
      request: { method: 'GET', path: '/v1/balance' },
      output: ['available.amount', 'available.currency', 'pending.amount', 'pending.currency'],
    },
    {
      name: 'create_customer',
      description: 'Creates a customer.',
      input: {
        email: { type: 'string', format: 'email' },
        name: { type: 'string', minLength: 1, maxLength: 256 },
        description: { type: 'string', maxLength: 350 },
      },
      required: ['email'],
      isReadOnly: false,
      request: {
        method: 'POST',
        path: '/v1/customers',
        form: { email: '{email}', name: '{name}', description: '{description}' },
      },
      output: ['id', 'email', 'name'],
    },
  ],
}
