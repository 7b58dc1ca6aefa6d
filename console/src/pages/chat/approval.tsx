import { apiText } from '../../i18n/language.ts'
import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Turn } from '@atrium/client'
import { useState } from 'react'
import { read } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { CodeBlock } from '../../ui/forms/code-block.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './message.module.css'
import type { ToolPart } from './parts.ts'
import { asText } from './parts.ts'
import { answerOf, QuestionForm } from './question-form.tsx'
import type { Entered } from './question-form.tsx'

export type Decide = (approvalId: string, approved: boolean, answer?: Record<string, unknown>) => Promise<void>

type Asked = Turn['approvals'][number]

const untrustedSources: Record<string, Text> = {
  chat: msg`a message in a connected chat`,
  person: msg`another person’s message`,
  peer: msg`another agent’s message`,
  project: msg`project instructions written by another person`,
}

const sourceOf = (from: string) => {
  const source = Object.hasOwn(untrustedSources, from) ? untrustedSources[from] : undefined
  return source ? textOf(source) : <code>{from}</code>
}

const Untrusted = ({ from }: { from: string | null }) =>
  from === null ? null : (
    <p>
      <Trans>
        This conversation contains untrusted content from {sourceOf(from)}, which may try to control the agent. Check
        the arguments before you approve this call.
      </Trans>
    </p>
  )

const Consent = ({ asked, connector }: { asked: Asked; connector: string }) => (
  <>
    <p>
      <strong>
        <Trans>
          Allow {asked.agent.name} to use your {connector} connection?
        </Trans>
      </strong>
    </p>
    <p>
      {asked.changedBy === null ? (
        <Trans>The last change to {asked.agent.name} has no recorded author.</Trans>
      ) : asked.changedAt === null ? (
        <Trans>
          {asked.agent.name} was last changed by {asked.changedBy.name}.
        </Trans>
      ) : (
        <Trans>
          {asked.agent.name} was last changed by {asked.changedBy.name} (<RelativeTime at={asked.changedAt} />
          ).
        </Trans>
      )}{' '}
      <Trans>You will be asked again only if someone else changes the agent.</Trans>
    </p>
  </>
)

const titles: Record<Asked['kind'], Text> = {
  consent: msg`Consent required`,
  approval: msg`Approval required`,
  repeat: msg`Outcome unknown`,
  input: msg`Input required`,
}

const useConnectorName = (slug: string | null): string => {
  const { can } = useIdentity()
  const connectors = useQuery({ ...read('GET /connectors'), enabled: slug !== null && can('connections:read') })
  return connectors.data?.items.find((one) => one.slug === slug)?.name ?? slug ?? ''
}

/** A pending approval or consent: the reason, the arguments, and the buttons for people who can decide it. */
export const Approval = ({
  part,
  approvalId,
  turnId,
  decide,
}: {
  part: ToolPart
  approvalId: string
  turnId: string
  decide: Decide
}) => {
  const { can } = useIdentity()
  const turn = useQuery(read('GET /turns/:id', { params: { id: turnId } }))
  const asked = turn.data?.approvals.find((one) => one.approvalId === approvalId)
  const connector = useConnectorName(asked?.connector ?? null)
  const [entered, setEntered] = useState<Entered>({})
  const form = asked?.form ?? undefined
  const { answer, problem } = form ? answerOf(form, entered) : { answer: undefined, problem: false as string | false }
  const off =
    (!can('sessions:write') && t`You do not have permission to write in conversations.`) ||
    (asked?.canDecide === false && apiText(asked.cannotDecideReason ?? t`You cannot decide this request.`))
  const approve = useSubmit(() => decide(approvalId, true, answer))
  const deny = useSubmit(() => decide(approvalId, false))
  const isConsent = asked?.kind === 'consent'
  return (
    <section className={styles['approval']} aria-label={asked ? textOf(titles[asked.kind]) : t`Approval required`}>
      {form ? (
        <QuestionForm form={form} entered={entered} onChange={setEntered} />
      ) : isConsent ? (
        <Consent asked={asked} connector={connector} />
      ) : (
        <p>
          <strong>{part.name}</strong>:{' '}
          {asked?.untrustedFrom ? t`This call requires approval.` : apiText(part.reason ?? '')}
        </p>
      )}
      {asked && <Untrusted from={asked.untrustedFrom} />}
      {isConsent && (
        <p>
          <Trans>
            First call: <code>{part.name}</code>
          </Trans>
        </p>
      )}
      {!form && <CodeBlock text={asText(part.input)} />}
      <Notice error={approve.error ?? deny.error} />
      {off === false ? (
        <div className={styles['approvalActions']}>
          <Button small busy={deny.busy} onClick={deny.submit}>
            {isConsent ? t`Do not allow` : form ? t`Do not answer` : t`Deny`}
          </Button>
          <Button small variant="primary" busy={approve.busy} disabledReason={problem} onClick={approve.submit}>
            {isConsent ? t`Allow ${asked.agent.name} to use your ${connector}` : form ? t`Send answer` : t`Approve`}
          </Button>
        </div>
      ) : (
        <Notice tone="info">{off}</Notice>
      )}
    </section>
  )
}
