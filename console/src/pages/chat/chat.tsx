import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Session } from '@atrium/client'
import { ArrowLeft, Bot, Copy, Ellipsis, Link as LinkIcon, PenLine, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { api, queryClient, read, refresh } from '../../api.ts'
import { copyText } from '../../clipboard.ts'
import { changeMessageDraft, emptyDraft } from '../../message-drafts.ts'
import { shareableUrl } from '../../scope.ts'
import { currentParams, withParams } from '../../search-params.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { ButtonLink, IconButton } from '../../ui/forms/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { TextField } from '../../ui/forms/field.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/forms/form-dialog.tsx'
import { Menu } from '../../ui/forms/menu.tsx'
import type { MenuEntries } from '../../ui/forms/menu.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './chat.module.css'
import { Conversation } from './conversation.tsx'
import { useDraftKey } from './draft-key.ts'
import { conversationMarkdown } from './message/conversation-markdown.ts'
import { NewChat } from './new-chat.tsx'
import { Receipt } from './receipt.tsx'
import { agentOf, SessionList, titleOf } from './list/session-list.tsx'
import { filterOf, queryOf } from './list/session-search.tsx'
import type { SessionFilter } from './list/session-search.tsx'

const RenameDialog = ({ session, onClose }: { session: Session; onClose: () => void }) => {
  const [title, setTitle] = useState(session.title ?? '')
  const problem = title.trim() === '' && t`Enter a title.`
  const form = useSubmit(async () => {
    await api.call('PATCH /sessions/:id', { params: { id: session.id }, body: { title: title.trim() } })
    await refresh('GET /sessions', 'GET /sessions/:id')
    onClose()
  })
  return (
    <FormDialog
      onClose={onClose}
      title={t`Rename conversation`}
      form={form}
      action={t`Rename`}
      disabledReason={problem}
    >
      <TextField
        label={t`Title`}
        field="title"
        maxLength={255}
        value={title}
        onChange={({ target }) => setTitle(target.value)}
      />
    </FormDialog>
  )
}

const DeleteDialog = ({ session, onClose }: { session: Session; onClose: () => void }) => {
  const navigate = useNavigate()
  const draftKey = useDraftKey(session.id)
  const form = useSubmit(async () => {
    await api.call('DELETE /sessions/:id', { params: { id: session.id } })
    changeMessageDraft(draftKey, () => emptyDraft)
    queryClient.removeQueries({ queryKey: ['GET /sessions/:id'] })
    await navigate('/chat', { replace: true })
    await refresh('GET /sessions')
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Delete this conversation?`}
      description={t`“${titleOf(session)}” is deleted for everyone, and a running turn is stopped. This cannot be undone.`}
      form={form}
      action={t`Delete conversation`}
    />
  )
}

const BackLink = ({ to }: { to: string }) => (
  <ButtonLink
    to={to}
    variant="quiet"
    icon={<ArrowLeft />}
    className={styles['back'] ?? ''}
    aria-label={t`Back to conversations`}
  >
    <Trans>Back</Trans>
  </ButtonLink>
)

const Header = ({ session, back }: { session: Session | undefined; back: string }) => {
  const { can } = useIdentity()
  const [asking, setAsking] = useState<'rename' | 'delete'>()
  const agent = session && agentOf(session)
  const off = !can('sessions:write') && t`You do not have permission to write in conversations.`
  const copy = (): void => {
    copyText(shareableUrl(`/chat/${session?.id ?? ''}`)).then(
      () => toast.done(t`Link copied`),
      (error: unknown) => toast.failed(t`Link could not be copied`, error),
    )
  }
  const copyMarkdown = (): void => {
    if (!session) return
    conversationMarkdown(session.id, titleOf(session))
      .then(copyText)
      .then(
        () => toast.done(t`Conversation copied`),
        (error: unknown) => toast.failed(t`The conversation could not be copied`, error),
      )
  }
  const entries: MenuEntries = [
    { label: t`Rename`, icon: <PenLine />, disabledReason: off, onSelect: () => setAsking('rename') },
    { label: t`Copy link`, icon: <LinkIcon />, onSelect: copy },
    { label: t`Copy as Markdown`, icon: <Copy />, onSelect: copyMarkdown },
    ...(agent ? [{ label: t`Open ${agent.name}`, icon: <Bot />, to: `/agents/${agent.slug ?? agent.id}` }] : []),
    'separator',
    { label: t`Delete`, icon: <Trash2 />, danger: true, disabledReason: off, onSelect: () => setAsking('delete') },
  ]
  return (
    <header className={styles['head']}>
      <BackLink to={back} />
      <h1>{session ? titleOf(session) : ' '}</h1>
      {session?.source === 'test' && (
        <Badge>
          <Trans>Test</Trans>
        </Badge>
      )}
      {agent && <span className={styles['headAgent']}>{agent.name}</span>}
      {session && (
        <Menu trigger={<IconButton label={t`Conversation actions`} icon={<Ellipsis />} />} entries={entries} />
      )}
      {session && asking === 'rename' && <RenameDialog session={session} onClose={() => setAsking(undefined)} />}
      {session && asking === 'delete' && <DeleteDialog session={session} onClose={() => setAsking(undefined)} />}
    </header>
  )
}

const OpenChat = ({ sessionId, back }: { sessionId: string; back: string }) => {
  const [params, setParams] = useSearchParams()
  const session = useQuery(read('GET /sessions/:id', { params: { id: sessionId } }))
  useTitle(session.data ? titleOf(session.data) : t`Chat`)
  const setReceipt = (turnId: string | undefined): void =>
    setParams(withParams(params, { receipt: turnId }), { replace: turnId === undefined })
  const receipt = params.get('receipt')
  const agentName = (session.data && agentOf(session.data)?.name) ?? t`the agent`
  return (
    <>
      <Header session={session.data} back={back} />
      <Conversation key={sessionId} sessionId={sessionId} agentName={agentName} onReceipt={setReceipt} />
      {receipt !== null && <Receipt turnId={receipt} onClose={() => setReceipt(undefined)} />}
    </>
  )
}

/** The list of conversations, and the open or a new one. A phone shows either the list or the conversation. */
export const Chat = () => {
  useTitle(t`Chat`)
  const { sessionId: opened } = useParams()
  const sessionId = opened === 'new' ? undefined : opened
  const [params, setParams] = useSearchParams()
  const agents = useQuery(read('GET /agents'))
  const filter = filterOf(params)
  const agentSlug = filter.agent
  const setFilter = (change: SessionFilter): void => {
    const now = currentParams()
    const next = withParams(now, { ...change })
    setParams(next, { replace: next.get('q') !== now.get('q') })
  }
  const setAgent = (slug: string): void => setFilter({ agent: slug })
  const items = agents.data?.items ?? []
  const chosen = items.find(({ slug }) => slug === agentSlug) ?? items.find(({ isDefault }) => isDefault) ?? items[0]
  const back = `/chat${queryOf(filter)}`
  return (
    <div className={classNames(styles['page'], opened !== undefined && styles['opened'])}>
      <SessionList agents={items} filter={filter} onFilter={setFilter} />
      <section className={styles['main']} aria-label={t`Chat`}>
        {sessionId !== undefined ? (
          <OpenChat sessionId={sessionId} back={back} />
        ) : agents.data ? (
          <>
            <div className={classNames(styles['head'], styles['newHead'])}>
              <BackLink to={back} />
            </div>
            <NewChat agents={items} agent={chosen} onAgent={setAgent} />
          </>
        ) : agents.error ? (
          <ErrorState error={agents.error} onRetry={() => void agents.refetch()} />
        ) : (
          <Skeleton />
        )}
      </section>
    </div>
  )
}
