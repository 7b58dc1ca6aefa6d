import type { FastifyReply, FastifyRequest } from 'fastify'
import { cachedEnsureDefaultAgent } from '../agents/agents.ts'
import { decodeCursor, encodeCursor } from '../platform/http/cursor.ts'
import type { Database, Transaction } from '../platform/database/database.ts'
import type { Actor } from '../identity/actor.ts'
import { sendResource } from '../platform/http/etag.ts'
import { apiPrefix } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import { sha256 } from '../platform/signatures/signed-request.ts'
import { CursorList, CursorQuery, Deleted, IdParams, ok, Success } from '../platform/http/schemas.ts'
import { switchBranch, withVersions } from './branches/branches.ts'
import type { SessionDeps } from './deps.ts'
import { listMessages } from './message-queries.ts'
import type { MessageRow } from './message-queries.ts'
import type * as queries from './queries.ts'
import {
  AgentParams,
  BranchSwitch,
  ListedSession,
  Message,
  MessageListQuery,
  ParticipantSessionsQuery,
  PeerMessage,
  Session,
  SessionCreate,
  SessionListQuery,
  SessionPatch,
} from './schemas.ts'
import * as sessions from './sessions.ts'
import { registerStreamRoutes } from './streams/routes.ts'
import { registerToolOutputRoutes } from './turns/caller-tools/routes.ts'
import { registerTurnRoutes } from './turns/routes.ts'
import { cancelUnfinishedTurns } from './turns/cancel.ts'

const tags = ['Sessions']
const what = 'Session'
/** The page size of lists that are returned whole unless the request has a limit. */
const wholeListLimit = 1_000
const pageSize = 'Messages of more than 512 KB together are several pages, each with at least one message.'

const textOf = (parts: MessageRow['parts']): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')

/** The ETag covers the participants' names and avatars, because their changes do not change the session's revision. */
const sendSession = (request: FastifyRequest, reply: FastifyReply, session: queries.ChatSessionRow) => {
  const participants = sha256(JSON.stringify(session.participants)).toString('base64url').slice(0, 12)
  return sendResource(request, reply, session, [participants])
}

export const registerSessionRoutes = (app: App, deps: SessionDeps): void => {
  const { config, db } = deps
  const createDefaultAgent = cachedEnsureDefaultAgent(db, config.defaultAgentModel)
  registerTurnRoutes(app, deps)
  registerToolOutputRoutes(app, deps)
  registerStreamRoutes(app, deps)

  app.get(
    `${apiPrefix}/sessions`,
    {
      config: { access: 'sessions:read', what: 'Agent', errors: ['NOT_FOUND'] },
      schema: {
        tags,
        summary: 'List sessions',
        description:
          'Returns the sessions of the workspace, last changed first, or with `search` those that contain words. NOT_FOUND when `agentId` names no agent that is visible to the caller.',
        querystring: SessionListQuery,
        response: { 200: Success(CursorList(ListedSession)) },
      },
    },
    async ({ actor, query }) => ok(await sessions.listSessions(db.replica, actor, query)),
  )

  app.post(
    `${apiPrefix}/sessions`,
    {
      config: { events: ['session.created'], access: 'sessions:write', what: 'Agent', errors: ['NOT_FOUND'] },
      schema: {
        tags,
        summary: 'Create a session',
        description:
          'Creates a session with an agent in the workspace of the call. NOT_FOUND when the agent or project does not exist.',
        body: SessionCreate,
        response: { 201: Success(Session) },
      },
    },
    async (request, reply) => {
      await createDefaultAgent(request.actor)
      reply.code(201)
      return sendSession(request, reply, await sessions.createSession(request.db, request.actor, request.body))
    },
  )

  app.get(
    `${apiPrefix}/sessions/:id`,
    {
      config: { access: 'sessions:read', what },
      schema: {
        tags,
        summary: 'Retrieve a session',
        description: 'Returns a session with its participants and status.',
        params: IdParams,
        response: { 200: Success(Session) },
      },
    },
    async (request, reply) =>
      sendSession(request, reply, await sessions.getSession(db.hot, request.actor, request.params.id)),
  )

  app.patch(
    `${apiPrefix}/sessions/:id`,
    {
      config: { events: ['session.updated'], access: 'sessions:write', what },
      schema: {
        tags,
        summary: 'Update a session',
        description: 'Changes the title, project or metadata of a session. Fields that are not sent stay as they are.',
        params: IdParams,
        body: SessionPatch,
        response: { 200: Success(Session) },
      },
    },
    async (request, reply) => {
      const { actor, params, body, headers } = request
      const change = { patch: body, ifMatch: headers['if-match'] }
      return sendSession(request, reply, await sessions.updateSession(db, actor, params.id, change))
    },
  )

  app.delete(
    `${apiPrefix}/sessions/:id`,
    {
      config: { events: ['message.created', 'turn.cancelled', 'session.deleted'], access: 'sessions:write', what },
      schema: {
        tags,
        summary: 'Delete a session',
        description: 'Deletes a session with its messages. Its running and queued turns are cancelled.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params, headers }) => {
      const endTurns = async (db: Transaction, workspaceId: string): Promise<void> => {
        await cancelUnfinishedTurns(db, deps, { author: actor, workspaceId }, params.id)
      }
      await sessions.deleteSession(db, actor, params.id, { ifMatch: headers['if-match'], endTurns })
      return ok({ deleted: true as const })
    },
  )

  app.get(
    `${apiPrefix}/sessions/:id/messages`,
    {
      config: { access: 'sessions:read', what },
      schema: {
        tags,
        summary: 'List messages of a session',
        description: `Returns the messages of a session, newest first. ${pageSize}`,
        params: IdParams,
        querystring: MessageListQuery,
        response: { 200: Success(CursorList(Message)) },
      },
    },
    async ({ actor, params, query }) => {
      const { limit, cursor, branch } = query
      const [before] = cursor === undefined ? [undefined] : decodeCursor(cursor, ['number'])
      const session = await sessions.requireSession(db.hot, actor, params.id)
      const skipped = branch === 'all' ? null : session.skipped
      const page = await listMessages(db.replica, actor, params.id, { limit, before, skipped })
      const hasVersions = session.skipped !== null
      const items = hasVersions ? await withVersions(db.replica, actor.orgId, params.id, page.items) : page.items
      const last = page.items.at(-1)
      return ok({ items, nextCursor: page.isMore && last ? encodeCursor([last.position]) : null })
    },
  )

  registerBranchRoute(app, db)
  registerAgentLists(app, db, createDefaultAgent)
}

const registerBranchRoute = (app: App, db: Database): void => {
  app.post(
    `${apiPrefix}/sessions/:id/branch`,
    {
      config: { events: ['session.updated'], access: 'sessions:write', what, errors: ['CONFLICT', 'VALIDATION_ERROR'] },
      schema: {
        tags,
        summary: 'Switch to another version of a message',
        description:
          'Makes the newest branch that contains a message the active one: its messages are listed, and the next message follows its last reply. CONFLICT while a turn of the session is running.',
        params: IdParams,
        body: BranchSwitch,
        response: { 200: Success(Session) },
      },
    },
    async (request, reply) => {
      const { actor, params, body } = request
      await switchBranch(request.db, actor, params.id, body.messageId)
      return sendSession(request, reply, await sessions.getSession(db.hot, actor, params.id))
    },
  )
}

/** Sessions of an agent and its messages to peers. `createDefaultAgent` creates the org's default agent if it is missing. */
const registerAgentLists = (
  app: App,
  db: Database,
  createDefaultAgent: (actor: Actor) => Promise<void> | undefined,
): void => {
  app.get(
    `${apiPrefix}/agents/:id/sessions`,
    {
      config: { access: 'sessions:read', what: 'Agent' },
      schema: {
        tags: ['Agents'],
        summary: 'List sessions of an agent',
        description:
          'Returns the sessions in which the agent takes part, last changed first. Without `limit`, returns all of them, up to 1,000.',
        params: AgentParams,
        querystring: ParticipantSessionsQuery,
        response: { 200: Success(CursorList(Session)) },
      },
    },
    async ({ actor, params, query }) => {
      await createDefaultAgent(actor)
      const { limit = wholeListLimit, cursor } = query
      return ok(await sessions.listSessions(db.replica, actor, { agentId: params.id, limit, cursor }))
    },
  )

  app.get(
    `${apiPrefix}/agents/:id/messages`,
    {
      config: { access: 'sessions:read', what: 'Agent' },
      schema: {
        tags: ['Agents'],
        summary: 'List peer messages of an agent',
        description: `Returns messages that agents wrote in the sessions of this agent with its peers, newest first. ${pageSize}`,
        params: AgentParams,
        querystring: CursorQuery,
        response: { 200: Success(CursorList(PeerMessage)) },
      },
    },
    async ({ actor, params, query }) => {
      await createDefaultAgent(actor)
      const page = await sessions.listPeerMessages(db.replica, actor, params.id, query)
      const items = page.items.map(({ author, ...message }) => ({
        ...message,
        fromAgentId: author.id,
        fromAgentSlug: author.slug ?? '',
        fromAgentName: author.name,
        fromAgentAvatar: author.avatar ?? '',
        text: textOf(message.parts),
      }))
      return ok({ items, nextCursor: page.nextCursor })
    },
  )
}
