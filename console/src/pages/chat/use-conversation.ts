import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Message, Session, TurnCreate } from '@atrium/client'
import { useEffect, useState } from 'react'
import { api, isCode, keyOf, queryClient, read, refresh } from '../../api.ts'
import { useFallbackPolling } from '../../live/connection.ts'
import { useStableCallback } from '../../stable-values.ts'
import { useLiveTurn } from './live-turn.ts'
import { sendOnce } from './once.ts'
import { storedParts } from './parts.ts'
import type { ViewPart } from './parts.ts'

const pageSize = 50

export const useMessages = (sessionId: string) =>
  useInfiniteQuery({
    queryKey: [...keyOf('GET /sessions/:id/messages'), sessionId],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) => {
      const query = { limit: pageSize, ...(pageParam !== undefined && { cursor: pageParam }) }
      return api.call('GET /sessions/:id/messages', { params: { id: sessionId }, query, signal })
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items).toReversed(),
  })

/** The messages of people that started a turn, and the response. */
export interface Exchange {
  turnId: string
  messages: Message[]
  /** What is shown before the response: the messages, and responses that a client of the API sent with them. */
  before: Message[]
  reply: { message: Message | undefined; parts: readonly ViewPart[]; isLive: boolean } | undefined
}

/** Groups messages by turn, in order of their first message: a message can be queued before the previous response. */
const toExchanges = (messages: readonly Message[]): Exchange[] => {
  const byTurn = new Map<string, Exchange>()
  for (const message of messages) {
    const { turnId } = message
    const exchange = byTurn.get(turnId) ?? { turnId, messages: [], before: [], reply: undefined }
    byTurn.set(turnId, exchange)
    if (exchange.reply?.message) exchange.before.push(exchange.reply.message)
    exchange.reply = undefined
    if (message.role === 'user') {
      exchange.messages.push(message)
      exchange.before.push(message)
    } else exchange.reply = { message, parts: storedParts(message), isLive: false }
  }
  return [...byTurn.values()]
}

const refreshAll = (): Promise<unknown> =>
  refresh('GET /sessions/:id', 'GET /sessions/:id/messages', 'GET /sessions', 'GET /turns/:id', 'GET /billing')

/** Sends a message in background mode; the response arrives through the stream of the turn. */
export const sendMessage = async (sessionId: string, body: TurnCreate): Promise<void> => {
  const params = { id: sessionId }
  const { turn } = await sendOnce([sessionId, body], (idempotencyKey) =>
    api.call('POST /sessions/:id/messages', { params, body: { ...body, background: true }, idempotencyKey }),
  )
  queryClient.setQueryData(keyOf('GET /sessions/:id', { params }), (known: Session | undefined) =>
    known && known.activeTurnId === null ? { ...known, activeTurnId: turn.id, status: 'running' as const } : known,
  )
  await refreshAll()
}

const pollMs = 6_000

/** The stored messages of a session combined with its running turn. */
export const useConversation = (sessionId: string) => {
  const fallback = useFallbackPolling()
  const session = useQuery({
    ...read('GET /sessions/:id', { params: { id: sessionId } }),
    // That another person has decided an approval is not an event.
    refetchInterval: ({ state }) => (state.data?.status === 'requires_action' ? pollMs : fallback),
  })
  const messages = useMessages(sessionId)
  const active = session.data?.activeTurnId ?? undefined
  const [liveId, setLiveId] = useState(active)
  if (active !== undefined && active !== liveId) setLiveId(active)
  const { live, resume } = useLiveTurn(liveId)

  const isIdle = live?.isIdle === true
  // Changes with every new message and whenever a turn starts, ends or waits.
  const { messageCount, activeTurnId, status } = session.data ?? {}
  const version = session.data && `${messageCount} ${activeTurnId} ${status}`
  useEffect(() => {
    if (isIdle) void refreshAll()
  }, [isIdle])
  useEffect(() => {
    if (version !== undefined) void refresh('GET /sessions/:id/messages', 'GET /turns/:id')
  }, [version])

  // Another person can decide the pending approval.
  const resumeIfDecided = useStableCallback((_freshAt: number) => {
    if (isIdle && session.data?.status === 'running' && active === liveId) resume()
  })
  const freshAt = session.dataUpdatedAt
  useEffect(() => resumeIfDecided(freshAt), [resumeIfDecided, freshAt])

  const exchanges = toExchanges(messages.data ?? [])
  const current = exchanges.find(({ turnId }) => turnId === liveId)
  const isStored = current?.reply !== undefined && active !== liveId
  if (current && live && !isStored) {
    current.reply = { message: current.reply?.message, parts: live.parts, isLive: !isIdle }
  }
  // The turn is queued, or its first frame has not arrived.
  else if (current && current.turnId === active && !current.reply) {
    current.reply = { message: undefined, parts: [], isLive: true }
  }
  const isWorking = active !== undefined && session.data?.status === 'running' && !(isIdle && active === liveId)

  return {
    session,
    messages,
    exchanges,
    live,
    isWorking,
    decide: async (approvalId: string, approved: boolean, answer?: Record<string, unknown>): Promise<void> => {
      if (liveId === undefined) return
      try {
        await api.call('POST /turns/:id/approvals', {
          params: { id: liveId },
          body: { approvalId, approved, ...(answer && approved ? { answer } : {}) },
        })
      } catch (error) {
        // CONFLICT: the agent was changed in the meantime, so the turn asks again.
        if (isCode(error, 'CONFLICT')) resume()
        throw error
      }
      resume()
    },
    stop: async (): Promise<void> => {
      if (active !== undefined) await api.call('POST /turns/:id/cancel', { params: { id: active } })
    },
  }
}

export type Conversation = ReturnType<typeof useConversation>
