import { verifyStripe } from '../../platform/signatures/stripe.ts'
import { readJson } from './body.ts'
import { at, bySecret, describe, textAt } from './receiver.ts'
import type { Message, Receiver } from './receiver.ts'

const normalise = (event: unknown): Message | undefined => {
  const type = textAt(event, 'type')
  const object = at(event, 'data', 'object')
  const id = textAt(object, 'id')
  if (type === undefined || id === undefined) return undefined
  const kind = textAt(object, 'object') ?? 'object'
  const amount = textAt(object, 'amount') ?? textAt(object, 'amount_due') ?? textAt(object, 'amount_total')
  const customer = textAt(object, 'customer')
  return {
    // What is about one customer belongs together.
    chat: customer ?? id,
    title: `Stripe: ${customer ?? id}`,
    sender: 'Stripe',
    text: describe(
      `Stripe event ${type} on the ${kind} ${id}${at(event, 'livemode') === false ? ' (test mode)' : ''}`,
      amount === undefined ? undefined : `amount: ${amount} ${textAt(object, 'currency') ?? ''}`.trim(),
      customer === undefined ? undefined : `customer: ${customer}`,
      textAt(object, 'status') === undefined ? undefined : `status: ${textAt(object, 'status')}`,
    ),
    replyTo: {},
  }
}

/** Stripe: https://docs.stripe.com/webhooks. */
export const stripe: Receiver = {
  provider: 'stripe',
  verify: bySecret(verifyStripe),
  parse: ({ body }) => readJson(body),
  eventId: (event) => textAt(event, 'id'),
  eventType: (event) => textAt(event, 'type') ?? 'unknown',
  normalise,
}
