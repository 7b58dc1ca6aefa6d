import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Agent, Peer, PeerMessage } from '@atrium/client'
import { MessagesSquare } from 'lucide-react'
import { Link, useOutletContext, useSearchParams } from 'react-router'
import { read } from '../../api.ts'
import { useFallbackPolling } from '../../live/connection.ts'
import { Avatar } from '../../ui/data/avatar.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { ButtonLink } from '../../ui/forms/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { useStickToBottom } from '../../ui/data/stick-to-bottom.ts'
import { Markdown } from '../chat/markdown/markdown.tsx'
import { MessageBoundary } from '../chat/message/message-boundary.tsx'
import styles from './agents.module.css'

/** Of the last message in the list, which shows one line of it. */
const maxExcerpt = 200

/** The messages of two agents, oldest first. */
interface PeerConversation {
  sessionId: string
  name: string
  slug: string | undefined
  messages: PeerMessage[]
}

const peerConversationsOf = (newestFirst: readonly PeerMessage[]): PeerConversation[] => {
  const talks = new Map<string, PeerConversation>()
  for (const message of newestFirst) {
    const { sessionId } = message
    const talk = talks.get(sessionId) ?? { sessionId, name: t`Another agent`, slug: undefined, messages: [] }
    talk.messages.unshift(message)
    if (!message.isSelf && talk.slug === undefined) {
      talk.name = message.fromAgentName
      talk.slug = message.fromAgentSlug
    }
    talks.set(sessionId, talk)
  }
  return [...talks.values()]
}

const Messages = ({ talk }: { talk: PeerConversation }) => {
  const { scroller, onScroll } = useStickToBottom()
  return (
    <div
      ref={scroller}
      onScroll={onScroll}
      className={styles['talk']}
      role="log"
      aria-label={t`Messages with ${talk.name}`}
      tabIndex={0}
    >
      <div className={styles['words']}>
        {talk.messages.map((message) => (
          <article key={message.id} className={classNames(styles['word'], message.isSelf && styles['own'])}>
            <Avatar name={message.fromAgentName} square />
            <div>
              <header>
                {message.fromAgentName} <RelativeTime at={message.createdAt} />
              </header>
            </div>
            <div className={styles['bubble']}>
              <MessageBoundary text={message.text}>
                <Markdown text={message.text} />
              </MessageBoundary>
            </div>
          </article>
        ))}
        <p>
          <Link className="link" to={`/chat/${talk.sessionId}`}>
            <Trans>Open full conversation</Trans>
          </Link>
        </p>
      </div>
    </div>
  )
}

const NoMessages = ({ agent, peers }: { agent: Agent; peers: readonly Peer[] }) => {
  const names = peers.map(({ name }) => name).join(', ')
  return (
    <EmptyState
      compact
      icon={<MessagesSquare />}
      title={t`No peer messages yet`}
      action={
        <ButtonLink to={`/agents/${agent.slug}/settings`}>
          <Trans>Choose allowed peers</Trans>
        </ButtonLink>
      }
    >
      {peers.length === 0 ? t`${agent.name} has no allowed peers.` : t`${agent.name} can message ${names}.`}
    </EmptyState>
  )
}

export const PeerMessages = () => {
  const agent = useOutletContext<Agent>()
  const [params, setParams] = useSearchParams()
  const lastHundred = { params: { id: agent.id }, query: { limit: 100 } }
  const messages = useQuery({ ...read('GET /agents/:id/messages', lastHundred), refetchInterval: useFallbackPolling() })
  const peers = useQuery(read('GET /agents/:id/peers', { params: { id: agent.id } }))
  return (
    <QueryBoundary query={messages}>
      {({ items }) => {
        const talks = peerConversationsOf(items)
        const [first] = talks
        const open = talks.find(({ sessionId }) => sessionId === params.get('with')) ?? first
        if (!open) return <NoMessages agent={agent} peers={peers.data?.items ?? []} />
        return (
          <div className={styles['peers']}>
            <ul className={styles['peerList']} aria-label={t`Peers`}>
              {talks.map((talk) => (
                <li key={talk.sessionId}>
                  <button
                    type="button"
                    className={styles['peer']}
                    aria-current={talk === open}
                    onClick={() => setParams({ with: talk.sessionId }, { replace: true })}
                  >
                    <Avatar name={talk.name} square />
                    <span>
                      {talk.name}
                      <small>{talk.messages.at(-1)?.text.slice(0, maxExcerpt)}</small>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
            <Messages key={open.sessionId} talk={open} />
          </div>
        )
      }}
    </QueryBoundary>
  )
}
