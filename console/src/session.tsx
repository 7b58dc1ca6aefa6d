import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Data, Me } from 'atrium-sdk'
import { createContext, use, useEffect } from 'react'
import type { ReactNode } from 'react'
import { Navigate, useLocation } from 'react-router'
import { api, isCode, queryClient, read } from './api.ts'
import { InvitationNotice, useInvitations } from './invitations.tsx'
import { setScope, useScope } from './scope.ts'
import { Button } from './ui/forms/button.tsx'
import { EmptyState } from './ui/empty-state.tsx'
import { ErrorState } from './ui/error-state.tsx'

export type BrowserSession = NonNullable<Data<'GET /auth/session'>>

/** Who this browser is signed in as, or null. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }): Promise<BrowserSession | null> => api.call('GET /auth/session', { signal }),
  staleTime: 60_000,
})

export interface Identity {
  session: BrowserSession
  me: Me
  /** Whether the API lets this person do it here; the API decides all the same. */
  can: (permission: string) => boolean
}

const IdentityContext = createContext<Identity | undefined>(undefined)

/** Who is signed in and what they may do in the org and workspace of this tab. Below SignedIn only. */
export const useIdentity = (): Identity => {
  const identity = use(IdentityContext)
  if (!identity) throw new Error('useIdentity is for what is shown to somebody who signed in')
  return identity
}

export const signOut = async (): Promise<void> => {
  await api.call('POST /auth/sign-out')
  queryClient.clear()
  location.assign('/sign-in')
}

const Whole = ({ children }: { children: ReactNode }) => <main>{children}</main>

/** Nothing to work in: what the person can do is answer an invitation, or leave. */
const WithoutOrg = ({ email }: { email: string }) => {
  const invitations = useInvitations()
  return (
    <Whole>
      <EmptyState
        title={invitations.length === 0 ? 'You belong to no organisation' : 'You are invited'}
        action={<Button onClick={() => void signOut()}>Sign out</Button>}
      >
        {invitations.length === 0
          ? `${email} is not a member of any. Ask an owner or admin to add you.`
          : `You become a member when you accept. You are signed in as ${email}.`}
        {invitations.map((invitation) => (
          <InvitationNotice key={invitation.id} invitation={invitation} />
        ))}
      </EmptyState>
    </Whole>
  )
}

const WithIdentity = ({ session, children }: { session: BrowserSession; children: ReactNode }) => {
  const { orgId, workspaceId } = useScope()
  const isMember = orgId === undefined || session.orgs.some(({ id }) => id === orgId)
  const me = useQuery({ ...read('GET /me'), enabled: isMember && session.orgs.length > 0, staleTime: 60_000 })
  // What this tab remembered may be over: the org was left, or the workspace was deleted.
  const isLost = workspaceId !== undefined && isCode(me.error, 'FORBIDDEN')
  useEffect(() => {
    if (!isMember) setScope({ orgId: undefined, workspaceId: undefined })
    else if (isLost) setScope({ orgId, workspaceId: undefined })
  }, [isMember, isLost, orgId])

  if (session.orgs.length === 0) return <WithoutOrg email={session.user.email} />
  if (me.data) {
    const { data } = me
    const identity = { session, me: data, can: (permission: string) => data.permissions.includes(permission) }
    return <IdentityContext value={identity}>{children}</IdentityContext>
  }
  if (me.error && !isLost) {
    return (
      <Whole>
        <ErrorState error={me.error} onRetry={() => void me.refetch()} />
      </Whole>
    )
  }
  return null
}

/** Shows `children` to people who are signed in and sends all others to sign in, and back to here afterwards. */
export const SignedIn = ({ children }: { children: ReactNode }) => {
  const { pathname, search } = useLocation()
  const session = useQuery(sessionQuery)
  if (session.data) return <WithIdentity session={session.data}>{children}</WithIdentity>
  if (session.data === null) {
    const next = pathname + search
    return <Navigate to={next === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`} replace />
  }
  if (session.error) {
    return (
      <Whole>
        <ErrorState error={session.error} onRetry={() => void session.refetch()} />
      </Whole>
    )
  }
  return null
}
