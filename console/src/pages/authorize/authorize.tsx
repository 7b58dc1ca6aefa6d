import { Trans, useLingui } from '@lingui/react/macro'
import { msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import { useQuery } from '@tanstack/react-query'
import type { Data } from '@atrium/client'
import { useState } from 'react'
import { useLocation } from 'react-router'
import { api, read, readAll } from '../../api.ts'
import { setScope } from '../../scope.ts'
import { SignedIn, useIdentity } from '../../session.tsx'
import { StepUp, useStepUp } from '../../step-up.tsx'
import { useTitle } from '../../title.ts'
import { Button } from '../../ui/forms/button.tsx'
import { CheckField, SelectField } from '../../ui/forms/field.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { Notice } from '../../ui/notice.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import styles from './authorize.module.css'

const meanings: Partial<Record<string, MessageDescriptor>> = {
  'files:read': msg`Read and search files`,
  'files:write': msg`Create and change files`,
  'agents:read': msg`See agents`,
  'sessions:read': msg`Read conversations with agents`,
  'sessions:write': msg`Send messages to agents, which uses the balance of the organization`,
  'connections:read': msg`See your connections to other services`,
  'connections:write': msg`Use your connections to other services`,
}

const Consent = ({ request, asked }: { request: string; asked: Data<'GET /apps/authorization'> }) => {
  const { t } = useLingui()
  const { session, me, can } = useIdentity()
  const withStepUp = useStepUp()
  const workspaces = useQuery(readAll('GET /workspaces'))
  const [chosen, setChosen] = useState<string>()
  const [rejected, setRejected] = useState<readonly string[]>([])
  const workspaceId = chosen ?? me.workspace?.id ?? workspaces.data?.[0]?.id
  const offered = asked.scopes.filter((scope) => can(scope))
  const scopes = offered.filter((scope) => !rejected.includes(scope))
  const decide = async (isApproved: boolean): Promise<void> => {
    const body = {
      request,
      approved: isApproved,
      ...(isApproved && workspaceId !== undefined && { workspaceId, scopes: [...scopes] }),
    }
    const call = (stepUp: { stepUpToken?: string }) => api.call('POST /apps/authorization', { body, ...stepUp })
    const { redirectTo } = isApproved ? await withStepUp((stepUpToken) => call({ stepUpToken })) : await call({})
    location.assign(redirectTo)
  }
  const labelOf = (scope: string): string => {
    const meaning = meanings[scope]
    return meaning ? t(meaning) : scope
  }
  const form = useSubmit(() => decide(true))
  const denial = useSubmit(() => decide(false))
  const reason =
    (workspaceId === undefined && t`You are not a member of a workspace.`) ||
    (scopes.length === 0 && t`Select at least one permission.`)
  return (
    <form
      className={styles['card']}
      onSubmit={(event) => {
        event.preventDefault()
        form.submit()
      }}
    >
      <header>
        <h1>
          <Trans>Authorize “{asked.name}”?</Trans>
        </h1>
        <p className={styles['text']}>
          <Trans>The app wants to act on your behalf. You are signed in as {session.user.email}.</Trans>
        </p>
      </header>
      <Notice tone="warn">
        {asked.publisher === null
          ? t`The name of this app is not verified. Continue only if you have just started the connection yourself.`
          : t`The app is published by ${asked.publisher}.`}{' '}
        {asked.isLocal
          ? t`The result is sent to a program on your computer (${asked.redirectHost}).`
          : t`You will be sent to ${asked.redirectHost}.`}
      </Notice>
      <Notice error={form.error ?? denial.error} />
      {session.orgs.length > 1 && (
        <SelectField
          label={t`Organization`}
          value={me.org.id}
          onChange={({ target }) => {
            setChosen(undefined)
            setScope({ orgId: target.value, workspaceId: undefined })
          }}
        >
          {session.orgs.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
      <SelectField
        label={t`Workspace in ${me.org.name}`}
        value={workspaceId ?? ''}
        onChange={({ target }) => setChosen(target.value)}
      >
        {(workspaces.data ?? []).map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <fieldset className={styles['scopes']}>
        <legend>
          <Trans>Permissions</Trans>
        </legend>
        {offered.map((scope) => (
          <CheckField
            key={scope}
            label={labelOf(scope)}
            checked={!rejected.includes(scope)}
            onChange={() =>
              setRejected(rejected.includes(scope) ? rejected.filter((one) => one !== scope) : [...rejected, scope])
            }
          />
        ))}
      </fieldset>
      <div className={styles['actions']}>
        <Button busy={denial.busy} onClick={denial.submit}>
          <Trans>Deny</Trans>
        </Button>
        <Button variant="primary" type="submit" busy={form.busy} disabledReason={reason}>
          <Trans>Authorize</Trans>
        </Button>
      </div>
      <p className={styles['text']}>
        <Trans>You can revoke access at any time in Settings, Authorized apps.</Trans>
      </p>
    </form>
  )
}

const Asked = () => {
  const request = useLocation().search.slice(1)
  const { me } = useIdentity()
  const asked = useQuery({ ...read('GET /apps/authorization', { query: { request } }), retry: false })
  return (
    <QueryBoundary query={asked}>{(data) => <Consent key={me.org.id} request={request} asked={data} />}</QueryBoundary>
  )
}

/** The authorization endpoint of OAuth: asks the person whether an app may act for them. */
export const Authorize = () => {
  const { t } = useLingui()
  useTitle(t`Authorize app`)
  return (
    <main className={styles['page']}>
      <SignedIn>
        <StepUp>
          <Asked />
        </StepUp>
      </SignedIn>
    </main>
  )
}
