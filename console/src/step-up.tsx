import { createContext, use, useCallback, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { api } from './api.ts'
import { useIdentity } from './session.tsx'
import { Button, ButtonLink } from './ui/forms/button.tsx'
import { Dialog } from './ui/dialog.tsx'
import { TextField } from './ui/forms/field.tsx'
import { FormDialog } from './ui/forms/form-dialog.tsx'
import { useSubmit } from './ui/forms/use-submit.ts'

/** Runs a call that needs proof of who one is: asks for it first, unless that was done within the last minutes. */
export type WithStepUp = <T>(work: (stepUpToken: string) => Promise<T>) => Promise<T>

/** The person closed the dialog instead; nothing was done. */
export class StepUpCancelled extends DOMException {
  constructor() {
    super('The confirmation was cancelled.', 'AbortError')
  }
}

const StepUpContext = createContext<WithStepUp | undefined>(undefined)

export const useStepUp = (): WithStepUp => {
  const withStepUp = use(StepUpContext)
  if (!withStepUp) throw new Error('useStepUp is for what is below StepUp')
  return withStepUp
}

interface Token {
  token: string
  expiresAt: string
}

const Form = ({ onDone, onClose }: { onDone: (token: Token) => void; onClose: () => void }) => {
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
        title="Set a password first"
        description="This needs proof that it is you, by your password. You have signed in by a link so far."
        footer={
          <ButtonLink variant="primary" to="/settings/profile" onClick={onClose}>
            Set a password
          </ButtonLink>
        }
      />
    )
  }
  return (
    <FormDialog
      onClose={onClose}
      title="Confirm that it is you"
      description="This changes who may do what. You will not be asked again for ten minutes."
      form={form}
      action="Confirm"
      disabledReason={value === '' && 'Fill in the field above first.'}
    >
      <input type="text" autoComplete="username" value={session.user.email} readOnly hidden />
      {byCode ? (
        <TextField
          key="code"
          label="Code of your authenticator"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={7}
          value={value}
          onChange={({ target }) => setValue(target.value)}
        />
      ) : (
        <TextField
          key="password"
          label="Password"
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
            {byCode ? 'Use the password instead' : 'Use a code instead'}
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

// Less than the server's ten minutes, so that none expires on the way.
const marginMs = 15_000

export const StepUp = ({ children }: { children: ReactNode }) => {
  const [asking, setAsking] = useState<Asking>()
  const known = useRef<Token>(undefined)
  const withStepUp = useCallback<WithStepUp>(async (work) => {
    const { current } = known
    const isGood = current !== undefined && Date.parse(current.expiresAt) - marginMs > Date.now()
    const token = isGood
      ? current.token
      : await new Promise<string>((resolve, reject) => {
          setAsking({ resolve, reject })
        })
    try {
      return await work(token)
    } catch (error) {
      // It may have ended early, by a change of the password: the next attempt asks anew.
      known.current = undefined
      throw error
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
