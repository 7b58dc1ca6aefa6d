import { Trans, useLingui } from '@lingui/react/macro'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Data, Me } from '@atrium/client'
import { createContext, Suspense, use, useDeferredValue, useEffect, useMemo } from 'react'
import type { ReactNode } from 'react'
import { Navigate, useLocation } from 'react-router'
import { api, isCode, queryClient, read } from './api.ts'
import { setLanguage } from './i18n/language.ts'
import { InvitationNotice, useInvitations } from './invitations.ts'
import { deleteMessageDrafts, unloadMessageDrafts } from './message-drafts.ts'
import { useLiveEvents } from './live/use-live-events.ts'
import { setScope, useScope } from './scope.ts'
import { Button } from './ui/forms/button.tsx'
import { EmptyState } from './ui/empty-state.tsx'
import { ErrorState } from './ui/error-state.tsx'
import { Skeleton } from './ui/skeleton.tsx'

export type BrowserSession = NonNullable<Data<'GET /auth/session'>>

/** The session of this browser; null when signed out. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }): Promise<BrowserSession | null> => api.call('GET /auth/session', { signal }),
  staleTime: 60_000,
})

export interface Identity {
  session: BrowserSession
  me: Me
  /** Whether the person has a permission here. For the UI only: the API checks it again. */
  can: (permission: string) => boolean
}

const IdentityContext = createContext<Identity | undefined>(undefined)

/** The signed-in person and their permissions in the org and workspace of this tab. Throws outside SignedIn. */
export const useIdentity = (): Identity => {
  const identity = use(IdentityContext)
  if (!identity) throw new Error('useIdentity must be used inside SignedIn')
  return identity
}

export const signOut = async (): Promise<void> => {
  await api.call('POST /auth/sign-out')
  deleteMessageDrafts()
  queryClient.clear()
  location.assign('/sign-in')
}

const FullPage = ({ children }: { children: ReactNode }) => <main>{children}</main>

/** For people without an org, who can only answer an invitation or sign out. */
const WithoutOrg = ({ email }: { email: string }) => {
  const { t } = useLingui()
  const invitations = useInvitations()
  return (
    <FullPage>
      <EmptyState
        title={invitations.length === 0 ? t`No organization` : t`You have an invitation`}
        action={
          <Button onClick={() => void signOut()}>
            <Trans>Sign out</Trans>
          </Button>
        }
      >
        {invitations.length === 0
          ? t`${email} is not a member of an organization. Ask an owner or admin to add you.`
          : t`Accept the invitation to join. You are signed in as ${email}.`}
        <Suspense>
          {invitations.map((invitation) => (
            <InvitationNotice key={invitation.id} invitation={invitation} />
          ))}
        </Suspense>
      </EmptyState>
    </FullPage>
  )
}

interface SignedInProps {
  children: ReactNode
  /** Shown until it is known who is signed in. */
  loading?: ReactNode
}

const WithIdentity = ({ session, loading, children }: SignedInProps & { session: BrowserSession }) => {
  const { orgId, workspaceId } = useScope()
  const isMember = orgId === undefined || session.orgs.some(({ id }) => id === orgId)
  const hasOrg = isMember && session.orgs.length > 0
  const me = useQuery({ ...read('GET /me'), enabled: hasOrg, staleTime: 60_000 })
  // Begins before the page loads its data, so that no change is missed in between.
  useLiveEvents(hasOrg)
  const userId = session.user.id
  useEffect(() => deleteMessageDrafts(userId), [userId])
  // The stored scope can be outdated: the person left the org, or the workspace was deleted.
  const isLost = workspaceId !== undefined && isCode(me.error, 'FORBIDDEN')
  useEffect(() => {
    if (!isMember) setScope({ orgId: undefined, workspaceId: undefined })
    else if (isLost) setScope({ orgId, workspaceId: undefined })
  }, [isMember, isLost, orgId])

  const language = me.data?.user.language
  useEffect(() => {
    // In the language before when the other one cannot be loaded.
    if (language !== undefined) void setLanguage(language).catch(() => undefined)
  }, [language])

  // Responses are rendered without interruption. Deferred, the first page is rendered in short tasks, between which a phone
  // can paint and scroll.
  const isReady = useDeferredValue(me.data !== undefined, false)
  const { data } = me
  // The same object until the data changes: every component that uses it is rendered again for another one.
  const identity = useMemo(
    () => data && { session, me: data, can: (permission: string) => data.permissions.includes(permission) },
    [session, data],
  )

  if (session.orgs.length === 0) return <WithoutOrg email={session.user.email} />
  if (identity && isReady) return <IdentityContext value={identity}>{children}</IdentityContext>
  if (me.error && !isLost) {
    return (
      <FullPage>
        <ErrorState error={me.error} onRetry={() => void me.refetch()} />
      </FullPage>
    )
  }
  return loading
}

/** Shows `children` to signed-in people and redirects others to sign in, and back here afterwards. */
export const SignedIn = ({ loading = <Skeleton />, children }: SignedInProps) => {
  const { pathname, search } = useLocation()
  const session = useQuery(sessionQuery)
  const isSignedOut = session.data === null
  useEffect(() => {
    if (isSignedOut) unloadMessageDrafts()
  }, [isSignedOut])
  if (session.data) {
    return (
      <WithIdentity session={session.data} loading={loading}>
        {children}
      </WithIdentity>
    )
  }
  if (session.data === null) {
    const next = pathname + search
    return <Navigate to={next === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`} replace />
  }
  if (session.error) {
    return (
      <FullPage>
        <ErrorState error={session.error} onRetry={() => void session.refetch()} />
      </FullPage>
    )
  }
  return loading
}
