import { t } from '@lingui/core/macro'
import { useState } from 'react'
import { api, refresh } from '../../api.ts'
import { formatCents, formatPrice } from '../../format.ts'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './billing.module.css'
import { amountProblem, centsOf, dollarsOf } from '../../money.ts'

const minimumCents = 100
const maximumCents = 100_000
const presets = [1_000, 2_500, 10_000, 50_000]

/** Asks for the amount. With a payment provider, its checkout page takes the payment. */
export const DepositDialog = ({ isDirect, onClose }: { isDirect: boolean; onClose: () => void }) => {
  const [amount, setAmount] = useState(() => dollarsOf(2_500))
  const problem = amountProblem(amount, minimumCents, maximumCents)
  const cents = centsOf(amount) ?? 0
  const form = useSubmit(async () => {
    const started = await api.call('POST /billing/deposit', { body: { amountCents: cents } })
    if (started.checkoutUrl !== undefined) {
      location.assign(started.checkoutUrl)
      // The page stays busy until the browser has left it.
      await new Promise(() => undefined)
    }
    await refresh('GET /billing', 'GET /billing/transactions')
    toast.done(t`${formatCents(started.deposited ?? cents)} added to the balance`)
    onClose()
  })
  return (
    <FormDialog
      onClose={onClose}
      title={t`Add funds`}
      description={
        isDirect
          ? t`This server has no payment provider. The amount is added to the balance without a payment.`
          : t`You pay on the checkout page of the payment provider.`
      }
      form={form}
      action={problem === undefined ? t`Add ${formatCents(cents)}` : t`Add funds`}
      disabledReason={problem}
    >
      <div className={styles['quick']} role="group" aria-label={t`Suggested amounts`}>
        {presets.map((choice) => (
          <Button key={choice} aria-pressed={choice === cents} onClick={() => setAmount(dollarsOf(choice))}>
            {formatPrice(choice)}
          </Button>
        ))}
      </div>
      <TextField
        label={t`Amount in US dollars`}
        field="amountCents"
        inputMode="decimal"
        value={amount}
        error={amount === '' ? undefined : problem}
        hint={t`${formatPrice(minimumCents)} to ${formatPrice(maximumCents)}`}
        onChange={({ target }) => setAmount(target.value)}
      />
    </FormDialog>
  )
}
