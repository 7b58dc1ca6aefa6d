import type { TwoFactorSecret } from 'atrium-sdk'
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

const askAnew = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['session'] })

/** The password first: a browser that was left open should not be enough. */
const Begin = ({ onBegun, onClose }: { onBegun: (secret: TwoFactorSecret) => void; onClose: () => void }) => {
  const [password, setPassword] = useState('')
  const form = useSubmit(async () => {
    onBegun(await api.call('POST /auth/two-factor', { body: { password } }))
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Turn on two-factor authentication"
      description="You will need an authenticator app on your phone."
      form={form}
      action="Continue"
      disabledReason={password === '' && 'Type your password first.'}
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

const Finish = ({ secret, onClose }: { secret: TwoFactorSecret; onClose: () => void }) => {
  const [code, setCode] = useState('')
  const digits = code.replaceAll(/\s/g, '')
  const form = useSubmit(async () => {
    await api.call('POST /auth/two-factor/confirm', { body: { code: digits } })
    await askAnew()
    toast.done('Two-factor authentication is on')
    onClose()
  })
  return (
    <FormDialog
      wide
      onClose={onClose}
      title="Add Atrium to your authenticator"
      form={form}
      action="Turn it on"
      disabledReason={digits.length !== 6 && 'Type the six digits first.'}
    >
      <div className={styles['qr']}>
        <QrCode text={secret.otpauthUri} label="QR code for your authenticator" />
        <div className={styles['form']}>
          <p>1. Scan the code, or type this secret:</p>
          <p className={styles['secret']}>
            <code>{secret.secret}</code>
            <CopyButton text={secret.secret} label="Copy the secret" />
          </p>
          <p>2. Keep these backup codes where you will find them without your phone. Each signs in once.</p>
          <CodeBlock text={secret.backupCodes.join('\n')} label="Copy the backup codes" />
          <TextField
            label="3. The code that the app shows"
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

const Remove = ({ onClose }: { onClose: () => void }) => {
  const withStepUp = useStepUp()
  const form = useSubmit(async () => {
    await withStepUp((stepUpToken) => api.call('DELETE /auth/two-factor', { stepUpToken }))
    await askAnew()
    toast.done('Two-factor authentication is off')
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Turn off two-factor authentication?"
      description="From then on your password alone signs you in."
      form={form}
      action="Turn it off"
    />
  )
}

export const TwoFactor = ({ hasPassword, isOn }: { hasPassword: boolean; isOn: boolean }) => {
  const [step, setStep] = useState<'begin' | 'remove' | TwoFactorSecret>()
  const close = (): void => setStep(undefined)
  return (
    <Section
      title="Two-factor authentication"
      description="Signing in then needs a code of your phone as well, so a stolen password is not enough."
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
      {step === 'begin' && <Begin onBegun={setStep} onClose={close} />}
      {step === 'remove' && <Remove onClose={close} />}
      {typeof step === 'object' && <Finish secret={step} onClose={close} />}
    </Section>
  )
}
