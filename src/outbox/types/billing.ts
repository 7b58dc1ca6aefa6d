import { Type } from 'typebox'
import { Nullable } from '../../platform/http/schemas.ts'
import { defineEvent } from '../define.ts'
import { exampleId, IdOf } from './fields.ts'

const balanceCents = Type.Integer({ description: 'Balance after it, in cents.' })

// The id of a balance and that of a subscription is the id of the org.
export const billingEvents = {
  'balance.low': defineEvent({
    area: 'billing',
    subject: 'balance',
    description:
      'The balance fell below `autoTopupThresholdCents` of the org, which applies whether or not automatic top-up is on, or the threshold was raised above the balance. Once per crossing.',
    data: Type.Object({
      balanceCents,
      thresholdCents: Type.Integer({ description: 'The threshold in cents.' }),
    }),
    example: { balanceCents: 480, thresholdCents: 500 },
  }),
  'balance.exhausted': defineEvent({
    area: 'billing',
    subject: 'balance',
    description: 'The balance fell to 0 or below. Once per crossing.',
    data: Type.Object({ balanceCents }),
    example: { balanceCents: -3 },
  }),
  'balance.deposited': defineEvent({
    area: 'billing',
    subject: 'balance',
    description: 'A deposit was credited: by a payment, an automatic top-up, or directly outside production.',
    data: Type.Object({
      transactionId: IdOf('ID of the transaction in the ledger.'),
      amountCents: Type.Integer({ description: 'Amount in cents.' }),
      balanceCents,
    }),
    example: { transactionId: exampleId, amountCents: 2_500, balanceCents: 2_980 },
  }),
  'balance.topup.failed': defineEvent({
    area: 'billing',
    subject: 'balance',
    description: 'An automatic top-up was declined or could not be made. The next attempt follows after a pause.',
    data: Type.Object({
      topupId: IdOf('ID of the top-up.'),
      amountCents: Type.Integer({ description: 'Amount in cents.' }),
      failureCode: Nullable(Type.String(), 'Code of the payment provider, or of Atrium.'),
      failureMessage: Nullable(Type.String(), 'Reason in words, up to 500 characters.'),
    }),
    example: {
      topupId: exampleId,
      amountCents: 2_500,
      failureCode: 'card_declined',
      failureMessage: 'Your card was declined.',
    },
  }),
  'subscription.updated': defineEvent({
    area: 'billing',
    subject: 'subscription',
    description: "The org's subscription to a plan began, ended or changed, as the payment provider reports it.",
    data: Type.Object({
      planId: Type.String({ description: 'ID of the plan.' }),
      status: Type.String({ description: 'Status at the payment provider.' }),
      cancelAtPeriodEnd: Type.Boolean({ description: 'Whether it ends with the paid period.' }),
      currentPeriodEnd: Nullable(
        Type.String({ format: 'date-time' }),
        'End of the paid period. Null until the payment provider reports it.',
      ),
    }),
    example: {
      planId: 'team',
      status: 'active',
      cancelAtPeriodEnd: false,
      currentPeriodEnd: '2026-12-22T09:30:00.000Z',
    },
  }),
}
