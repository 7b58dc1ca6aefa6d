import type { TwoFactorSecret } from 'atrium-sdk'
import { useState } from 'react'
import { api, queryClient } from '../../api.ts'
import { useStepUp } from '../../step-up.tsx'
import { Section, Status } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeBlock, CopyButton } from '../../ui/copy.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { QrCode } from '../../ui/qr-code.tsx'
import { Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/use-submit.ts'
import styles from './settings.module.css'

const askAnew = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['session'] })

/** The password first: a browser that was left open should not be enough. */
const Begin = ({ onBegun, onClose }: { onBegun: (secret: TwoFactorSecret) => void; onClose: () => void }) => {
  const [password, setPassword] = useState('')
  const { busy, error, submit } = useSubmit(async () => {
    if (password !== '') onBegun(await api.call('POST /auth/two-factor', { body: { password } }))
  })
  return (
    <Dialog
      open
      onClose={onClose}
      onSubmit={submit}
      title="Turn on two-factor authentication"
      description="You will need an authenticator app on your phone."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            type="submit"
            busy={busy}
            disabledReason={password === '' && 'Type your password first.'}
          >
            Continue
          </Button>
        </>
      }
    >
      <Notice error={error} />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
    </Dialog>
  )
}

const Finish = ({ secret, onClose }: { secret: TwoFactorSecret; onClose: () => void }) => {
  const [code, setCode] = useState('')
  const digits = code.replaceAll(/\s/g, '')
  const { busy, error, submit } = useSubmit(async () => {
    if (digits.length !== 6) return
    await api.call('POST /auth/two-factor/confirm', { body: { code: digits } })
    await askAnew()
    toast.done('Two-factor authentication is on')
    onClose()
  })
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      onSubmit={submit}
      title="Add Atrium to your authenticator"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            type="submit"
            busy={busy}
            disabledReason={digits.length !== 6 && 'Type the six digits first.'}
          >
            Turn it on
          </Button>
        </>
      }
    >
      <Notice error={error} />
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
    </Dialog>
  )
}

const Remove = ({ onClose }: { onClose: () => void }) => {
  const withStepUp = useStepUp()
  const { busy, error, submit } = useSubmit(async () => {
    await withStepUp((stepUpToken) => api.call('DELETE /auth/two-factor', { stepUpToken }))
    await askAnew()
    toast.done('Two-factor authentication is off')
    onClose()
  })
  return (
    <Confirm
      open
      onClose={onClose}
      title="Turn off two-factor authentication?"
      description="From then on your password alone signs you in."
      action="Turn it off"
      busy={busy}
      error={<Notice error={error} />}
      onConfirm={submit}
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
