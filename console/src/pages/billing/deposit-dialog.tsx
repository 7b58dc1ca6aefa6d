import { useState } from 'react'
import { api, refresh } from '../../api.ts'
import { formatCents } from '../../format.ts'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './billing.module.css'
import { amountProblem, centsOf, dollarsOf } from '../../money.ts'

const leastCents = 100
const mostCents = 100_000
const usual = [1_000, 2_500, 10_000, 50_000]

/** Asks how much; the payment itself is the provider's page, where there is one. */
export const DepositDialog = ({ isDirect, onClose }: { isDirect: boolean; onClose: () => void }) => {
  const [amount, setAmount] = useState('25.00')
  const problem = amountProblem(amount, leastCents, mostCents)
  const cents = centsOf(amount) ?? 0
  const form = useSubmit(async () => {
    const started = await api.call('POST /billing/deposit', { body: { amountCents: cents }, idempotencyKey: true })
    if (started.checkoutUrl !== undefined) {
      location.assign(started.checkoutUrl)
      // The page stays busy until the browser has left it.
      await new Promise(() => undefined)
    }
    await refresh('GET /billing', 'GET /billing/transactions')
    toast.done(`${formatCents(started.deposited ?? cents)} are on the balance`)
    onClose()
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Add money"
      description={
        isDirect
          ? 'This server has no payment provider: the amount is put on the balance at once, without a payment.'
          : 'You pay on the page of the payment provider and come back here.'
      }
      form={form}
      action={problem === undefined ? `Add ${formatCents(cents)}` : 'Add'}
      disabledReason={problem}
    >
      <div className={styles['quick']} role="group" aria-label="Usual amounts">
        {usual.map((choice) => (
          <Button key={choice} aria-pressed={choice === cents} onClick={() => setAmount(dollarsOf(choice))}>
            {formatCents(choice).replace(/\.00$/, '')}
          </Button>
        ))}
      </div>
      <TextField
        label="Amount in US dollars"
        inputMode="decimal"
        value={amount}
        error={amount === '' ? undefined : problem}
        hint="From $1 to $1,000."
        onChange={({ target }) => setAmount(target.value)}
      />
    </FormDialog>
  )
}
