import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { SignedIn } from '@atrium/client'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { Navigate, useSearchParams } from 'react-router'
import { api, isCode } from '../../api.ts'
import { sessionQuery } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Avatar } from '../../ui/data/avatar.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './sign-in.module.css'

type Step = 'link' | 'password' | 'code' | 'first-password'

/** Reads the token from the URL fragment, which browsers do not send to servers, and removes it from the URL. */
const readToken = (): string | undefined => {
  const token = new URLSearchParams(location.hash.slice(1)).get('link') ?? undefined
  if (token !== undefined) history.replaceState(history.state, '', location.pathname + location.search)
  return token
}

const Form = ({
  picture,
  title,
  text,
  children,
  hint,
  action,
  work,
}: {
  picture?: ReactNode
  title: string
  text?: ReactNode
  children?: ReactNode
  /** Below the button. */
  hint?: ReactNode
  action: string
  work: () => Promise<void>
}) => {
  const { busy, error, submit } = useSubmit(work)
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <header>
        {picture}
        <h1>{title}</h1>
        {text !== undefined && <p className={styles['text']}>{text}</p>}
      </header>
      <Notice error={error} />
      {children}
      <Button variant="primary" type="submit" busy={busy} className={styles['submit'] ?? ''}>
        {action}
      </Button>
      {hint !== undefined && <p className={styles['small']}>{hint}</p>}
    </form>
  )
}

interface StepProps {
  onSignedIn: (answer: SignedIn) => Promise<void>
}

/** How a person gets in who has neither a password nor a link that works. */
const NewLinkHint = () => (
  <>
    <Trans>
      Ask an admin for a sign-in link. Server operators can create one with{' '}
      <code>npm run -s atrium -- user sign-in-link EMAIL</code>.
    </Trans>
  </>
)

const ByPassword = ({ onSignedIn }: StepProps) => {
  const { t } = useLingui()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  return (
    <Form
      title={t`Sign in to Atrium`}
      hint={
        <>
          <Trans>Forgot your password?</Trans> <NewLinkHint />
        </>
      }
      action={t`Sign in`}
      work={async () => onSignedIn(await api.call('POST /auth/sign-in', { body: { email, password } }))}
    >
      <TextField
        label={t`Email`}
        type="email"
        autoComplete="username"
        required
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- signing in is the only purpose of the page
        autoFocus
        value={email}
        onChange={({ target }) => setEmail(target.value)}
      />
      <TextField
        label={t`Password`}
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
    </Form>
  )
}

const ByLink = ({
  token,
  isSignedIn,
  onSignedIn,
  onOther,
}: StepProps & { token: string; isSignedIn: boolean; onOther: () => void }) => {
  const { t } = useLingui()
  const [isUsed, setUsed] = useState(false)
  // The link is not checked again once it is used.
  const [isUsing, setUsing] = useState(false)
  const checked = useQuery({
    enabled: !isUsing,
    queryKey: ['sign-in-link'],
    queryFn: ({ signal }) => api.call('POST /auth/sign-in/link/check', { body: { token }, signal }),
    retry: false,
    staleTime: Infinity,
  })
  if (isUsed || isCode(checked.error, 'UNAUTHORIZED')) {
    return (
      <div className={styles['form']} role="alert">
        <header>
          <h1>
            <Trans>This sign-in link does not work</Trans>
          </h1>
          <p className={styles['text']}>
            <Trans>
              It was used, has expired, or was replaced by a newer link. A link works once, within 24 hours.
            </Trans>
          </p>
        </header>
        <p className={styles['small']}>
          <NewLinkHint />
        </p>
        <Button variant="primary" onClick={onOther} className={styles['submit'] ?? ''}>
          {isSignedIn ? t`Go to home` : t`Sign in with a password`}
        </Button>
      </div>
    )
  }
  const signIn = async (): Promise<void> => {
    let answer: SignedIn
    setUsing(true)
    try {
      answer = await api.call('POST /auth/sign-in/link', { body: { token } })
    } catch (error) {
      if (!isCode(error, 'UNAUTHORIZED')) throw error
      setUsed(true)
      return
    }
    await onSignedIn(answer)
  }
  const org = checked.data?.org
  return (
    <>
      <Form
        picture={org && <Avatar name={org.name} logoUrl={org.logoUrl} size="l" square />}
        title={org ? t`Welcome to ${org.name}` : t`Welcome to Atrium`}
        text={t`This link works once.`}
        action={t`Sign in`}
        work={signIn}
      />
      <Button variant="quiet" onClick={onOther} className={styles['submit'] ?? ''}>
        <Trans>Sign in with a password instead</Trans>
      </Button>
    </>
  )
}

const ByCode = ({ onSignedIn }: StepProps) => {
  const { t } = useLingui()
  const [backup, setBackup] = useState(false)
  const [code, setCode] = useState('')
  const proof = () => (backup ? { backupCode: code.trim() } : { code: code.replaceAll(/\s/g, '') })
  return (
    <>
      <Form
        key={String(backup)}
        title={t`Two-factor authentication`}
        text={
          backup
            ? t`Enter one of the backup codes that you saved when you turned on two-factor authentication.`
            : t`Enter the 6-digit code from your authenticator app.`
        }
        action={t`Verify`}
        work={async () => onSignedIn(await api.call('POST /auth/sign-in/totp', { body: proof() }))}
      >
        <TextField
          label={backup ? t`Backup code` : t`Authentication code`}
          {...(backup ? {} : { inputMode: 'numeric' as const, maxLength: 7 })}
          autoComplete="one-time-code"
          required
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the step has only this field
          autoFocus
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      </Form>
      <Button
        variant="quiet"
        className={styles['submit'] ?? ''}
        onClick={() => {
          setBackup(!backup)
          setCode('')
        }}
      >
        {backup ? t`Use authenticator app` : t`Use backup code`}
      </Button>
    </>
  )
}

const FirstPassword = ({ email, onDone }: { email: string; onDone: () => Promise<void> }) => {
  const { t } = useLingui()
  const [newPassword, setNewPassword] = useState('')
  return (
    <>
      <Form
        title={t`Set a password`}
        text={t`You need a password to sign in again and to confirm sensitive changes.`}
        action={t`Set password`}
        work={async () => {
          await api.call('POST /auth/password', { body: { newPassword } })
          await onDone()
        }}
      >
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <TextField
          label={t`New password`}
          type="password"
          autoComplete="new-password"
          minLength={8}
          maxLength={128}
          required
          hint={t`At least 8 characters`}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the step has only this field
          autoFocus
          value={newPassword}
          onChange={({ target }) => setNewPassword(target.value)}
        />
      </Form>
      <Button variant="quiet" className={styles['submit'] ?? ''} onClick={() => void onDone()}>
        <Trans>Skip for now</Trans>
      </Button>
    </>
  )
}

/** Accepts only paths of this origin, to prevent an open redirect. URLs are parsed, because a parser removes tabs. */
const nextOf = (asked: string | null): string => {
  const url = URL.parse(asked ?? '/', location.origin)
  if (url?.origin !== location.origin || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search + url.hash
}

export const SignIn = () => {
  const { t } = useLingui()
  useTitle(t`Sign in`)
  const client = useQueryClient()
  const [search] = useSearchParams()
  const session = useQuery(sessionQuery)
  const [token] = useState(readToken)
  const [step, setStep] = useState<Step>(token === undefined ? 'password' : 'link')
  const enter = async (): Promise<void> => {
    setStep('password')
    await client.resetQueries()
  }
  const onSignedIn = async ({ twoFactorRequired }: SignedIn): Promise<void> => {
    if (twoFactorRequired) {
      setStep('code')
      return
    }
    const found = await client.fetchQuery({ ...sessionQuery, staleTime: 0 })
    // People without an org cannot set a password yet: they must accept an invitation first.
    if (found && !found.user.hasPassword && found.orgs.length > 0) setStep('first-password')
    else await enter()
  }
  if (session.data && step === 'password') return <Navigate to={nextOf(search.get('next'))} replace />
  return (
    <main className={styles['page']}>
      <img src="/assets/icon.svg" alt="" width={36} height={36} />
      <div className={styles['card']}>
        {session.error && <ErrorState compact error={session.error} onRetry={() => void session.refetch()} />}
        {step === 'link' && (
          <ByLink
            token={token ?? ''}
            isSignedIn={session.data != null}
            onSignedIn={onSignedIn}
            onOther={() => setStep('password')}
          />
        )}
        {step === 'password' && !session.error && <ByPassword onSignedIn={onSignedIn} />}
        {step === 'code' && <ByCode onSignedIn={onSignedIn} />}
        {step === 'first-password' && <FirstPassword email={session.data?.user.email ?? ''} onDone={enter} />}
      </div>
      <footer className={styles['footer']}>
        <a href="/docs">
          <Trans>API reference</Trans>
        </a>
        <a href="/readyz">
          <Trans>Status</Trans>
        </a>
      </footer>
    </main>
  )
}
