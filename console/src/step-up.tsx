import { t } from '@lingui/core/macro'
import { createContext, lazy, Suspense, use, useCallback, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { isCode } from './api.ts'
import { importWithRetry } from './load-page.ts'

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

export interface Token {
  token: string
  expiresAt: string
}

/** The dialogs of step-up authentication, which no page needs at its start. */
export const loadStepUp = () => import('./step-up-form.tsx')

const Form = lazy(async () => ({ default: (await importWithRetry(loadStepUp)).StepUpForm }))

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
  const asked = useRef<Promise<string>>(undefined)
  const withStepUp = useCallback<WithStepUp>(async (work) => {
    const openDialog = async (): Promise<string> => {
      // So that the call fails, and not the page, when the dialog cannot be loaded.
      await importWithRetry(loadStepUp)
      return new Promise((resolve, reject) => {
        setAsking({ resolve, reject })
      })
    }
    /** Calls at the same time wait for one dialog. */
    const ask = (): Promise<string> => {
      asked.current ??= openDialog().finally(() => (asked.current = undefined))
      return asked.current
    }
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
        <Suspense>
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
        </Suspense>
      )}
    </StepUpContext>
  )
}
