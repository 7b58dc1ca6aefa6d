import { useQuery } from '@tanstack/react-query'
import { BookOpen, Bot, CircleCheck, KeyRound, Upload, UserPlus } from 'lucide-react'
import type { LucideIcon } from 'lucide-react'
import { useState } from 'react'
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
  /** Undefined while that is not known. */
  done: boolean | undefined
}

const dismissedKey = 'atrium.first-steps'

const useSteps = (enabled: boolean): Step[] => {
  const { me, can } = useIdentity()
  const files = useQuery({ ...read('GET /files', { query: { limit: 1 } }), enabled })
  const sessions = useQuery({
    ...read('GET /sessions', { query: { limit: 1 } }),
    enabled: enabled && me.workspace !== null,
  })
  const members = useQuery({ ...read('GET /members', { query: { limit: 2 } }), enabled })
  const keys = useQuery({ ...read('GET /api-keys', { query: { limit: 50 } }), enabled })
  const steps: Step[] = [
    {
      title: 'Add files',
      text: 'Drop documents, pictures and data. Agents and programs can read them.',
      to: '/files',
      icon: Upload,
      done: files.data && files.data.total > 0,
    },
    {
      title: 'Talk to an agent',
      text: 'The assistant is there already; its demo model needs no account anywhere.',
      to: '/chat',
      icon: Bot,
      done: sessions.data && sessions.data.items.length > 0,
    },
    {
      title: 'Create an API key',
      text: 'Programs do with it what you do here.',
      to: '/settings/api-keys',
      icon: KeyRound,
      // The one that the first start printed is not of one's own making, but it is used as one.
      done: keys.data?.items.some(({ lastUsedAt }) => lastUsedAt !== null),
    },
  ]
  if (can('members:write')) {
    steps.push({
      title: 'Invite somebody',
      text: 'Members get a link that signs them in, and the role that you give them.',
      to: '/settings/members',
      icon: UserPlus,
      done: members.data && members.data.items.length > 1,
    })
  }
  return steps
}

/** For an org that is new: what there is to try. It goes once everything was done, or when it is told to. */
export const FirstSteps = () => {
  const { me } = useIdentity()
  const [dismissed, setDismissed] = useState(() => localStorage.getItem(dismissedKey) === me.org.id)
  const steps = useSteps(!dismissed)
  const isKnown = steps.every(({ done }) => done !== undefined)
  if (dismissed || !isKnown || steps.every(({ done }) => done)) return null
  return (
    <Section
      plain
      title="First steps"
      description="Everything here is also in the API."
      actions={
        <Button
          small
          variant="quiet"
          onClick={() => {
            localStorage.setItem(dismissedKey, me.org.id)
            setDismissed(true)
          }}
        >
          Hide
        </Button>
      }
    >
      <div className={styles['steps']}>
        {steps.map(({ title, text, to, icon: Icon, done }) => (
          <Link key={title} to={to} className={classNames(styles['step'], done === true && styles['done'])}>
            {done === true ? <CircleCheck aria-label="Done" /> : <Icon aria-hidden="true" />}
            <strong>{title}</strong>
            <p>{text}</p>
          </Link>
        ))}
        <a href="/docs" className={styles['step']}>
          <BookOpen aria-hidden="true" />
          <strong>Read the API reference</strong>
          <p>Every route with what it takes and answers, to try from the page.</p>
        </a>
      </div>
    </Section>
  )
}
