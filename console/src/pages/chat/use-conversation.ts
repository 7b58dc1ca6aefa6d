import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Message, Session, TurnCreate } from 'atrium-sdk'
import { useEffect, useState } from 'react'
import { api, isCode, keyOf, queryClient, read, refresh } from '../../api.ts'
import { useStableCallback } from '../../stable-values.ts'
import { useLiveTurn } from './live-turn.ts'
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

/** What was said, and what came of it. */
export interface Exchange {
  turnId: string
  said: Message[]
  reply: { message: Message | undefined; parts: readonly ViewPart[]; isLive: boolean } | undefined
}

/** One after another by when something was said, even when a second thing was said before the first was answered. */
const toExchanges = (messages: readonly Message[]): Exchange[] => {
  const byTurn = new Map<string, Exchange>()
  for (const message of messages) {
    const exchange = byTurn.get(message.turnId) ?? { turnId: message.turnId, said: [], reply: undefined }
    byTurn.set(message.turnId, exchange)
    if (message.role === 'user') exchange.said.push(message)
    else exchange.reply = { message, parts: storedParts(message), isLive: false }
  }
  return [...byTurn.values()]
}

const refreshAll = (): Promise<unknown> =>
  refresh('GET /sessions/:id', 'GET /sessions/:id/messages', 'GET /sessions', 'GET /turns/:id', 'GET /billing')

/** Says something; the answer comes by the turn's stream. */
export const say = async (sessionId: string, body: TurnCreate): Promise<void> => {
  const params = { id: sessionId }
  const { turn } = await api.call('POST /sessions/:id/messages', {
    params,
    body: { ...body, background: true },
    idempotencyKey: true,
  })
  queryClient.setQueryData(keyOf('GET /sessions/:id', { params }), (known: Session | undefined) =>
    known && known.activeTurnId === null ? { ...known, activeTurnId: turn.id, status: 'running' as const } : known,
  )
  await refreshAll()
}

const pollMs = 6_000

/** Everything about a session that is shown: what is stored, and the turn that runs. */
export const useConversation = (sessionId: string) => {
  const session = useQuery({
    ...read('GET /sessions/:id', { params: { id: sessionId } }),
    // Somebody else, another tab or a chat of a connected provider may say something here, too.
    refetchInterval: pollMs,
  })
  const messages = useMessages(sessionId)
  const active = session.data?.activeTurnId ?? undefined
  const [liveId, setLiveId] = useState(active)
  if (active !== undefined && active !== liveId) setLiveId(active)
  const { live, resume } = useLiveTurn(liveId)

  const rests = live?.rests === true
  // Changes with what is said, by whomever, and with every turn that begins, ends or waits.
  const { messageCount, activeTurnId, status } = session.data ?? {}
  const version = session.data && `${messageCount} ${activeTurnId} ${status}`
  useEffect(() => {
    if (rests) void refreshAll()
  }, [rests])
  useEffect(() => {
    if (version !== undefined) void refresh('GET /sessions/:id/messages', 'GET /turns/:id')
  }, [version])

  // Somebody else may have decided what it waited for.
  const goOn = useStableCallback((_freshAt: number) => {
    if (rests && session.data?.status === 'running' && active === liveId) resume()
  })
  const freshAt = session.dataUpdatedAt
  useEffect(() => goOn(freshAt), [goOn, freshAt])

  const exchanges = toExchanges(messages.data ?? [])
  const current = exchanges.find(({ turnId }) => turnId === liveId)
  const isStored = current?.reply !== undefined && active !== liveId
  if (current && live && !isStored) {
    current.reply = { message: current.reply?.message, parts: live.parts, isLive: !rests }
  }
  // It waits for its turn, or the first frame is on its way.
  else if (current && current.turnId === active && !current.reply) {
    current.reply = { message: undefined, parts: [], isLive: true }
  }
  const isWorking = active !== undefined && session.data?.status === 'running' && !(rests && active === liveId)

  return {
    session,
    messages,
    exchanges,
    live,
    isWorking,
    decide: async (approvalId: string, approved: boolean): Promise<void> => {
      if (liveId === undefined) return
      try {
        await api.call('POST /turns/:id/approvals', { params: { id: liveId }, body: { approvalId, approved } })
      } catch (error) {
        // The agent has changed since: the turn asks again.
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
