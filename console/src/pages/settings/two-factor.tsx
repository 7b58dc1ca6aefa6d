import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { TwoFactorSecret } from '@atrium/client'
import { useState } from 'react'
import { api, queryClient } from '../../api.ts'
import { useStepUp } from '../../step-up.tsx'
import { Section } from '../../ui/page.tsx'
import { Status } from '../../ui/data/status.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { CodeBlock } from '../../ui/forms/code-block.tsx'
import { CopyButton } from '../../ui/forms/copy-button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/forms/form-dialog.tsx'
import { QrCode } from '../../ui/data/qr-code.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './settings.module.css'

const refreshSession = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['session'] })

/** Asks for the password, so that an unattended browser is not enough to turn it on. */
const StartDialog = ({ onBegun, onClose }: { onBegun: (secret: TwoFactorSecret) => void; onClose: () => void }) => {
  const [password, setPassword] = useState('')
  const form = useSubmit(async () => {
    onBegun(await api.call('POST /auth/two-factor', { body: { password } }))
  })
  return (
    <FormDialog
      onClose={onClose}
      title={t`Turn on two-factor authentication`}
      description={t`You need an authenticator app, for example on your phone.`}
      form={form}
      action={t`Continue`}
      disabledReason={password === '' && t`Enter your password.`}
    >
      <TextField
        label={t`Password`}
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
    </FormDialog>
  )
}

const VerifyDialog = ({ secret, onClose }: { secret: TwoFactorSecret; onClose: () => void }) => {
  const [code, setCode] = useState('')
  const digits = code.replaceAll(/\s/g, '')
  const form = useSubmit(async () => {
    await api.call('POST /auth/two-factor/confirm', { body: { code: digits } })
    await refreshSession()
    toast.done(t`Two-factor authentication is on`)
    onClose()
  })
  return (
    <FormDialog
      wide
      onClose={onClose}
      title={t`Set up your authenticator app`}
      form={form}
      action={t`Turn on`}
      disabledReason={digits.length !== 6 && t`Enter the 6-digit code.`}
    >
      <div className={styles['qr']}>
        <QrCode text={secret.otpauthUri} label={t`QR code for your authenticator app`} />
        <div className={styles['form']}>
          <p>
            <Trans>1. Scan the QR code or enter this secret:</Trans>
          </p>
          <p className={styles['secret']}>
            <code>{secret.secret}</code>
            <CopyButton text={secret.secret} label={t`Copy secret`} />
          </p>
          <p>
            <Trans>2. Save these backup codes somewhere other than your phone. Each code works once.</Trans>
          </p>
          <CodeBlock text={secret.backupCodes.join('\n')} label={t`Copy backup codes`} />
          <TextField
            label={t`3. Code from the app`}
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={7}
            value={code}
            onChange={({ target }) => setCode(target.value)}
          />
        </div>
      </div>
    </FormDialog>
  )
}

const TurnOffDialog = ({ onClose }: { onClose: () => void }) => {
  const withStepUp = useStepUp()
  const form = useSubmit(async () => {
    await withStepUp((stepUpToken) => api.call('DELETE /auth/two-factor', { stepUpToken }))
    await refreshSession()
    toast.done(t`Two-factor authentication is off`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Turn off two-factor authentication?`}
      description={t`Your account will be protected by your password only.`}
      form={form}
      action={t`Turn off`}
    />
  )
}

export const TwoFactor = ({ hasPassword, isOn }: { hasPassword: boolean; isOn: boolean }) => {
  const [step, setStep] = useState<'begin' | 'remove' | TwoFactorSecret>()
  const close = (): void => setStep(undefined)
  return (
    <Section
      title={t`Two-factor authentication`}
      description={t`Require a code from an authenticator app when you sign in.`}
      actions={
        isOn ? (
          <Button onClick={() => setStep('remove')}>
            <Trans>Turn off</Trans>
          </Button>
        ) : (
          <Button onClick={() => setStep('begin')} disabledReason={!hasPassword && t`Set a password first.`}>
            <Trans>Turn on</Trans>
          </Button>
        )
      }
    >
      <Status tone={isOn ? 'good' : 'neutral'}>{isOn ? t`On` : t`Off`}</Status>
      {step === 'begin' && <StartDialog onBegun={setStep} onClose={close} />}
      {step === 'remove' && <TurnOffDialog onClose={close} />}
      {typeof step === 'object' && <VerifyDialog secret={step} onClose={close} />}
    </Section>
  )
}
