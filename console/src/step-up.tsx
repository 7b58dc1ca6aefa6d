import { t } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { createContext, use, useCallback, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { api, isCode } from './api.ts'
import { useIdentity } from './session.tsx'
import { Button, ButtonLink } from './ui/forms/button.tsx'
import { Dialog } from './ui/dialog.tsx'
import { TextField } from './ui/forms/field.tsx'
import { FormDialog } from './ui/forms/form-dialog.tsx'
import { useSubmit } from './ui/forms/use-submit.ts'

/** Runs a call that needs step-up authentication; asks for the proof unless a token is still valid. */
export type WithStepUp = <T>(work: (stepUpToken: string) => Promise<T>) => Promise<T>

/** The person closed the dialog; the call was not made. */
export class StepUpCancelled extends DOMException {
  constructor() {
    super(t`The confirmation was cancelled.`, 'AbortError')
  }
}

const StepUpContext = createContext<WithStepUp | undefined>(undefined)

export const useStepUp = (): WithStepUp => {
  const withStepUp = use(StepUpContext)
  if (!withStepUp) throw new Error('useStepUp must be used inside StepUp')
  return withStepUp
}

interface Token {
  token: string
  expiresAt: string
}

const Form = ({ onDone, onClose }: { onDone: (token: Token) => void; onClose: () => void }) => {
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

interface Asking {
  resolve: (token: string) => void
  reject: (error: Error) => void
}

// Tokens expire after 10 minutes on the server; a token that is about to expire is not used.
const marginMs = 15_000

// FORBIDDEN also means a missing permission, which a new confirmation does not change.
const isStepUpNeeded = (error: unknown): boolean =>
  isCode(error, 'FORBIDDEN') && error instanceof Error && error.message.includes('step-up authentication')

export const StepUp = ({ children }: { children: ReactNode }) => {
  const [asking, setAsking] = useState<Asking>()
  const known = useRef<Token>(undefined)
  const withStepUp = useCallback<WithStepUp>(async (work) => {
    const ask = (): Promise<string> =>
      new Promise((resolve, reject) => {
        setAsking({ resolve, reject })
      })
    const { current } = known
    const isGood = current !== undefined && Date.parse(current.expiresAt) - marginMs > Date.now()
    if (!isGood) return work(await ask())
    try {
      return await work(current.token)
    } catch (error) {
      if (!isStepUpNeeded(error)) throw error
      // The server rejected the call before it did anything: a password change ends the token early, and it may not be
      // valid in another org.
      known.current = undefined
      return work(await ask())
    }
  }, [])
  return (
    <StepUpContext value={withStepUp}>
      {children}
      {asking !== undefined && (
        <Form
          onClose={() => {
            setAsking(undefined)
            asking.reject(new StepUpCancelled())
          }}
          onDone={(token) => {
            known.current = token
            setAsking(undefined)
            asking.resolve(token.token)
          }}
        />
      )}
    </StepUpContext>
  )
}
