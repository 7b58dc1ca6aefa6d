import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api } from './api.ts'
import { useIdentity } from './session.tsx'
import type { Token } from './step-up.tsx'
import { Button, ButtonLink } from './ui/forms/button.tsx'
import { Dialog } from './ui/dialog.tsx'
import { TextField } from './ui/forms/field.tsx'
import { FormDialog } from './ui/forms/form-dialog.tsx'
import { useSubmit } from './ui/forms/use-submit.ts'

/** Asks for the password or a code. */
export const StepUpForm = ({ onDone, onClose }: { onDone: (token: Token) => void; onClose: () => void }) => {
  const { t } = useLingui()
  const { session } = useIdentity()
  const { hasPassword, twoFactorEnabled } = session.user
  const [byCode, setByCode] = useState(false)
  const [value, setValue] = useState('')
  const proof = () => (byCode ? { totpCode: value.replaceAll(/\s/g, '') } : { password: value })
  const form = useSubmit(async () => {
    onDone(await api.call('POST /auth/step-up', { body: proof() }))
  })
  if (!hasPassword && !twoFactorEnabled) {
    return (
      <Dialog
        open
        onClose={onClose}
        title={t`Set a password first`}
        description={t`This change requires your password, and you have only signed in with a link so far.`}
        footer={
          <ButtonLink variant="primary" to="/settings/profile" onClick={onClose}>
            <Trans>Set password</Trans>
          </ButtonLink>
        }
      />
    )
  }
  return (
    <FormDialog
      onClose={onClose}
      title={t`Confirm access`}
      description={t`This change affects access. You will not be asked again for 10 minutes.`}
      form={form}
      action={t`Confirm`}
      disabledReason={value === '' && (byCode ? t`Enter the code.` : t`Enter your password.`)}
    >
      <input type="text" autoComplete="username" value={session.user.email} readOnly hidden />
      {byCode ? (
        <TextField
          key="code"
          label={t`Authentication code`}
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={7}
          value={value}
          onChange={({ target }) => setValue(target.value)}
        />
      ) : (
        <TextField
          key="password"
          label={t`Password`}
          type="password"
          autoComplete="current-password"
          value={value}
          onChange={({ target }) => setValue(target.value)}
        />
      )}
      {twoFactorEnabled && hasPassword && (
        <div>
          <Button
            variant="quiet"
            small
            onClick={() => {
              setByCode(!byCode)
              setValue('')
            }}
          >
            {byCode ? t`Use password instead` : t`Use authentication code instead`}
          </Button>
        </div>
      )}
    </FormDialog>
  )
}
