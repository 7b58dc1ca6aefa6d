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
      title="Turn on two-factor authentication"
      description="You need an authenticator app, for example on your phone."
      form={form}
      action="Continue"
      disabledReason={password === '' && 'Enter your password.'}
    >
      <TextField
        label="Password"
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
    toast.done('Two-factor authentication is on')
    onClose()
  })
  return (
    <FormDialog
      wide
      onClose={onClose}
      title="Set up your authenticator app"
      form={form}
      action="Turn on"
      disabledReason={digits.length !== 6 && 'Enter the 6-digit code.'}
    >
      <div className={styles['qr']}>
        <QrCode text={secret.otpauthUri} label="QR code for your authenticator app" />
        <div className={styles['form']}>
          <p>1. Scan the QR code or enter this secret:</p>
          <p className={styles['secret']}>
            <code>{secret.secret}</code>
            <CopyButton text={secret.secret} label="Copy secret" />
          </p>
          <p>2. Save these backup codes somewhere other than your phone. Each code works once.</p>
          <CodeBlock text={secret.backupCodes.join('\n')} label="Copy backup codes" />
          <TextField
            label="3. Code from the app"
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
    toast.done('Two-factor authentication is off')
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Turn off two-factor authentication?"
      description="Your account will be protected by your password only."
      form={form}
      action="Turn off"
    />
  )
}

export const TwoFactor = ({ hasPassword, isOn }: { hasPassword: boolean; isOn: boolean }) => {
  const [step, setStep] = useState<'begin' | 'remove' | TwoFactorSecret>()
  const close = (): void => setStep(undefined)
  return (
    <Section
      title="Two-factor authentication"
      description="Require a code from an authenticator app when you sign in."
      actions={
        isOn ? (
          <Button onClick={() => setStep('remove')}>Turn off</Button>
        ) : (
          <Button onClick={() => setStep('begin')} disabledReason={!hasPassword && 'Set a password first.'}>
            Turn on
          </Button>
        )
      }
    >
      <Status tone={isOn ? 'good' : 'neutral'}>{isOn ? 'On' : 'Off'}</Status>
      {step === 'begin' && <StartDialog onBegun={setStep} onClose={close} />}
      {step === 'remove' && <TurnOffDialog onClose={close} />}
      {typeof step === 'object' && <VerifyDialog secret={step} onClose={close} />}
    </Section>
  )
}
