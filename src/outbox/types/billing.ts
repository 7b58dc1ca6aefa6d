import { Type } from 'typebox'
import { Nullable } from '../../platform/http/schemas.ts'
import { defineEvent } from '../define.ts'
import { exampleId, IdOf } from './fields.ts'

const balanceCents = Type.Integer({ description: 'Balance after it, in cents.' })

// The subject of all is the balance, whose id is that of the org.
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
}
