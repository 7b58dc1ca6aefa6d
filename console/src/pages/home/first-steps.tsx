import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { BookOpen, Bot, CircleCheck, KeyRound, Upload, UserPlus, Webhook } from 'lucide-react'
import type { LucideIcon } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { Link } from 'react-router'
import { read } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { Section } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import styles from './home.module.css'

interface Step {
  title: string
  text: string
  to: string
  icon: LucideIcon
  /** Undefined while it is loading. */
  done: boolean | undefined
}

const dismissedKey = 'atrium.first-steps'

const useSteps = (enabled: boolean): Step[] => {
  const { me, can } = useIdentity()
  const files = useQuery({ ...read('GET /files', { query: { limit: 1 } }), enabled })
  const sessions = useQuery({
    // As in Attention, so that they are loaded once.
    ...read('GET /sessions', { query: { limit: 50 } }),
    enabled: enabled && me.workspace !== null,
  })
  const members = useQuery({ ...read('GET /members', { query: { limit: 2 } }), enabled })
  const webhooks = useQuery({ ...read('GET /webhooks'), enabled: enabled && can('webhooks:read') })
  const keys = useQuery({ ...read('GET /api-keys', { query: { limit: 50 } }), enabled })
  const steps: Step[] = [
    {
      title: t`Add files`,
      text: t`Upload documents, images and data for agents and API clients.`,
      to: '/files',
      icon: Upload,
      done: files.data && files.data.total > 0,
    },
    {
      title: t`Chat with an agent`,
      text: t`Every workspace has an assistant. Its demo model needs no account.`,
      to: '/chat/new',
      icon: Bot,
      done: sessions.data && sessions.data.items.length > 0,
    },
    {
      title: t`Create an API key`,
      text: t`Use the API for everything you can do in the console.`,
      to: '/settings/api-keys',
      icon: KeyRound,
      // The key that the first start prints counts as well once it is used.
      done: keys.data?.items.some(({ lastUsedAt }) => lastUsedAt !== null),
    },
  ]
  if (can('webhooks:write')) {
    steps.push({
      title: t`Add a webhook`,
      text: t`Receive events from other services, verified and forwarded with retries.`,
      to: '/webhooks?new',
      icon: Webhook,
      done: webhooks.data && webhooks.data.items.length > 0,
    })
  }
  if (can('members:write')) {
    steps.push({
      title: t`Add a member`,
      text: t`Members get a sign-in link and a role.`,
      to: '/settings/members',
      icon: UserPlus,
      done: members.data && members.data.items.length > 1,
    })
  }
  return steps
}

/** A checklist for new orgs; hidden when it is complete or dismissed. */
export const FirstSteps = () => {
  const { me } = useIdentity()
  const [dismissed, setDismissed] = useState(() => localStorage.getItem(dismissedKey) === me.org.id)
  const steps = useSteps(!dismissed)
  const isKnown = useDeferredValue(steps.every(({ done }) => done !== undefined))
  if (dismissed || !isKnown || steps.every(({ done }) => done)) return null
  return (
    <Section
      plain
      title={t`Get started`}
      description={t`Everything here is also available in the API.`}
      actions={
        <Button
          small
          variant="quiet"
          onClick={() => {
            localStorage.setItem(dismissedKey, me.org.id)
            setDismissed(true)
          }}
        >
          <Trans>Hide</Trans>
        </Button>
      }
    >
      <div className={styles['steps']}>
        {steps.map(({ title, text, to, icon: Icon, done }) => (
          <Link key={title} to={to} className={classNames(styles['step'], done === true && styles['done'])}>
            {done === true ? <CircleCheck aria-label={t`Done`} /> : <Icon aria-hidden="true" />}
            <strong>{title}</strong>
            <p>{text}</p>
          </Link>
        ))}
        <a href="/docs" className={styles['step']}>
          <BookOpen aria-hidden="true" />
          <strong>
            <Trans>Read the API reference</Trans>
          </strong>
          <p>
            <Trans>All operations with parameters, responses and examples.</Trans>
          </p>
        </a>
      </div>
    </Section>
  )
}
