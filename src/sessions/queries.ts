import { agentRecord } from '../agents/agents.ts'
import { empty, sql } from '../platform/database/database.ts'
import type { Db, Sql } from '../platform/database/database.ts'
import { insertOutbox } from '../outbox/queries.ts'
import type { OutboxRow } from '../outbox/queries.ts'
import type { Actor } from '../identity/actor.ts'
import type { Skipped } from './branches/skipped.ts'

export type SessionStatus = 'idle' | 'running' | 'requires_action'

export interface Participant {
  type: 'agent' | 'user'
  id: string
  slug?: string
  name: string
  avatar?: string
}

/** How a session was created. */
export type SessionSource = 'console' | 'api' | 'test' | 'openai' | 'mcp' | 'a2a' | 'chat' | 'agent'

export interface ChatSessionRow {
  id: string
  /** Null for sessions that an earlier version created for a person. */
  source: SessionSource | null
  workspaceId: string
  projectId: string | null
  agentId: string
  title: string | null
  status: SessionStatus
  activeTurnId: string | null
  participants: Participant[]
  metadata: Record<string, unknown>
  messageCount: number
  lastMessageAt: string | null
  revision: number
  createdAt: string
  updatedAt: string
}

/**
 * A CTE for every statement that changes `updated_at` of a session: copies it to the agents of the session when the
 * session moves to another place of their lists, every ten minutes at most. `changed` has the columns id, updated_at
 * and changed_at of the session.
 */
export const touchAgents = (orgId: string, changed: Sql): Sql => sql`touched as (
  update session_participants p set updated_at = c.updated_at
  from ${changed} as c
  where p.org_id = ${orgId} and p.session_id = c.id and p.kind = 'agent' and p.changed_at < c.changed_at)`

/** The value of changed_at at a time: the start of its ten minutes, as in the definition of the column. */
const tenMinutesOf = (at: string): Sql =>
  sql`date_bin('10 minutes', ${at}::timestamptz, timestamptz '2020-01-01 00:00:00+00')`

/** With the microseconds of updated_at, for the cursor. */
export type ListedSession = ChatSessionRow & { updatedAtExactly: string }

/** A position in a list that is ordered by the last change, newest first. */
export interface SessionPosition {
  updatedAt: string
  id: string
}

// The expression of the index sessions_by_source.
const source = sql`coalesce(s.source, case s.relationship when 'connector' then 'chat' when 'peer' then 'agent' end)`

/** The columns of a ChatSessionRow, but without the names of former members. The statement must name the table `s`. */
const columns = ({
  orgId,
}: Actor): Sql => sql`s.id, ${source} as source, s.workspace_id, s.project_id, s.agent_id, s.title, s.status, s.active_turn_id,
  s.metadata || jsonb_build_object('relationship', s.relationship) as metadata, s.message_count, s.last_message_at,
  s.revision, s.created_at, s.updated_at,
  (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('type', p.kind, 'id', p.participant_id,
      'slug', a.slug, 'name', coalesce(a.name, m.name), 'avatar', a.avatar)) order by p.kind, p.joined_at, p.participant_id), '[]')
    from session_participants p
      left join agents a on p.kind = 'agent' and a.org_id = ${orgId} and a.id = p.participant_id
      left join members m on p.kind = 'user' and m.org_id = ${orgId} and m.user_id = p.participant_id
    where p.org_id = ${orgId} and p.session_id = s.id
  ) as participants`

/** The columns of a ListedSession, but without the names of former members. */
export const listedColumns = (actor: Actor): Sql => sql`${columns(actor)}, s.updated_at::text as updated_at_exactly`

/**
 * Adds the names of people who have left the org to rows of sessions. They are read by their ids, because a join with
 * `users` would copy all of its rows to another server where tables are distributed.
 */
export const nameFormerMembers = async <Row extends ChatSessionRow>(db: Db, rows: Row[]): Promise<Row[]> => {
  const isNameless = ({ type, name }: Participant): boolean =>
    type === 'user' && (name as string | undefined) === undefined
  const ids = rows.flatMap(({ participants }) => participants.filter(isNameless).map(({ id }) => id))
  if (ids.length === 0) return rows
  const people = await db.rows<{ id: string; name: string }>(sql`
    -- all orgs: people belong to none
    select u.id, u.name from users u where u.id = any(${ids}::uuid[])`)
  const names = new Map(people.map(({ id, name }) => [id, name]))
  const named = (one: Participant): Participant => (isNameless(one) ? { ...one, name: names.get(one.id) ?? '' } : one)
  return rows.map((row) => ({ ...row, participants: row.participants.map(named) }))
}

export const visible = (actor: Actor, workspaceId: string): Sql =>
  sql`s.org_id = ${actor.orgId} and s.workspace_id = ${workspaceId} and s.deleted_at is null`

export const findSession = async (
  db: Db,
  actor: Actor,
  workspaceId: string,
  id: string,
): Promise<ChatSessionRow | undefined> => {
  const rows = await db.rows<ChatSessionRow>(sql`
    select ${columns(actor)} from sessions s where ${visible(actor, workspaceId)} and s.id = ${id}`)
  return (await nameFormerMembers(db, rows))[0]
}

export interface SessionKey {
  id: string
  agentId: string
  activeTurnId: string | null
  /** The turns that are not part of the active branch. */
  skipped: Skipped | null
}

/** The key fields of a session, if it is visible in the workspace. Most session routes need only these. */
export const findSessionKey = (db: Db, actor: Actor, workspaceId: string, id: string) =>
  db.row<SessionKey>(sql`
    select s.id, s.agent_id, s.active_turn_id, s.skipped from sessions s
    where ${visible(actor, workspaceId)} and s.id = ${id}`)

export interface SessionFilter {
  projectId: string | undefined
  source: SessionSource | undefined
  /** Leaves out tests of agents. */
  withoutTests: boolean
}

export const matchesFilter = (filter: SessionFilter): Sql => sql`
  ${filter.projectId === undefined ? empty : sql`and s.project_id = ${filter.projectId}`}
  ${filter.source === undefined ? empty : sql`and ${source} = ${filter.source}`}
  ${filter.withoutTests ? sql`and s.source is distinct from 'test'` : empty}`

export interface SessionPage extends SessionFilter {
  workspaceId: string
  limit: number
  after: SessionPosition
}

export const listSessions = async (
  db: Db,
  actor: Actor,
  { workspaceId, limit, after, ...filter }: SessionPage,
): Promise<ListedSession[]> => {
  const rows = await db.rows<ListedSession>(sql`
    select ${listedColumns(actor)} from sessions s
    where ${visible(actor, workspaceId)} ${matchesFilter(filter)}
      and s.changed_at <= ${tenMinutesOf(after.updatedAt)}
      and (s.updated_at, s.id) < (${after.updatedAt}::timestamptz, ${after.id}::uuid)
    order by s.changed_at desc, s.updated_at desc, s.id desc
    limit ${limit}`)
  return nameFormerMembers(db, rows)
}

/** The sessions of the workspace in which an agent takes part, last changed first: one scan of the agent's index. */
export const listAgentSessions = async (
  db: Db,
  actor: Actor,
  agentId: string,
  { workspaceId, limit, after, ...filter }: SessionPage,
): Promise<ListedSession[]> => {
  const rows = await db.rows<ListedSession>(sql`
    select ${listedColumns(actor)}
    from session_participants mine
      join sessions s on s.org_id = mine.org_id and s.id = mine.session_id
    where mine.org_id = ${actor.orgId} and mine.participant_id = ${agentId} and ${visible(actor, workspaceId)}
      ${matchesFilter(filter)}
      and mine.changed_at <= ${tenMinutesOf(after.updatedAt)}
      and (s.updated_at, s.id) < (${after.updatedAt}::timestamptz, ${after.id}::uuid)
    order by mine.changed_at desc, s.updated_at desc, s.id desc
    limit ${limit}`)
  return nameFormerMembers(db, rows)
}

export interface NewSession {
  id: string
  workspaceId: string
  projectId: string | null
  agentId: string
  title: string | null
  metadata: Record<string, unknown>
  /** Undefined for a session with a user. */
  relationship?: 'connector'
  source: SessionSource
}

/** Creates the session with the agent and the caller as participants. */
export const insertSession = (db: Db, actor: Actor, session: NewSession, created: OutboxRow) =>
  db.execute(sql`
    with made as (
      insert into sessions (org_id, id, workspace_id, project_id, agent_id, title, metadata, relationship, source, created_by)
      values (${actor.orgId}, ${session.id}, ${session.workspaceId}, ${session.projectId}, ${session.agentId},
        ${session.title}, ${JSON.stringify(session.metadata)}, ${session.relationship ?? 'user'}, ${session.source}, ${actor.userId})
      returning org_id, id, updated_at
    ), reported as (
      ${insertOutbox([created], sql`from made`)}
    )
    insert into session_participants (org_id, session_id, kind, participant_id, updated_at)
    select made.org_id, made.id, participant.kind, participant.id, made.updated_at
    from made, (values ('agent', ${session.agentId}::uuid), ('user', ${actor.userId}::uuid)) as participant (kind, id)`)

export interface LockedSession {
  id: string
  workspaceId: string
  agentId: string
  title: string | null
  projectId: string | null
  metadata: Record<string, unknown>
  status: SessionStatus
  activeTurnId: string | null
  turnCount: number
  messageCount: number
  revision: number
  relationship: 'user' | 'peer' | 'connector'
  /** Set in a peer session that can be continued; null in all others. */
  peerKey: string | null
  createdBy: string
  /** The turns that are not part of the active branch. */
  skipped: Skipped | null
  participantIds: string[]
}

const lockedColumns = (orgId: string, id: string): Sql => sql`id, workspace_id, agent_id, title, project_id, metadata,
  status, active_turn_id, turn_count, message_count, revision, relationship, peer_key, created_by, skipped,
  array(
    select participant_id from session_participants p where p.org_id = ${orgId} and p.session_id = ${id}
  ) as participant_ids`

/**
 * Locks the session. Every transaction that changes the status of a turn locks its session first, so that turns start and
 * end one after another and transactions cannot deadlock.
 */
export const lockSession = (db: Db, orgId: string, id: string) =>
  db.row<LockedSession>(sql`
    select ${lockedColumns(orgId, id)} from sessions
    where org_id = ${orgId} and id = ${id} and deleted_at is null
    for no key update`)

export interface SessionForTurn extends LockedSession {
  /** The likely size of the next prompt without its new message, in tokens. */
  contextTokens: number
  /** The AgentRow of the session's agent as JSON text; null when the agent was deleted. */
  agentRecord: string | null
}

/** As `lockSession`, with what a new turn needs. */
export const lockSessionForTurn = (db: Db, orgId: string, id: string) =>
  db.row<SessionForTurn>(sql`
    select ${lockedColumns(orgId, id)}, context_tokens,
      (
        select ${agentRecord} from agents a
        where a.org_id = ${orgId} and a.id = sessions.agent_id and a.deleted_at is null
      ) as agent_record
    from sessions
    where org_id = ${orgId} and id = ${id} and deleted_at is null
    for no key update`)

export interface SessionChanges {
  title: string | null
  projectId: string | null
  metadata: Record<string, unknown>
}

export const updateSession = (db: Db, actor: Actor, id: string, changes: SessionChanges) =>
  db.execute(sql`
    with changed as (
      update sessions
      set title = ${changes.title}, project_id = ${changes.projectId}, metadata = ${JSON.stringify(changes.metadata)},
        revision = revision + 1, updated_at = now()
      where org_id = ${actor.orgId} and id = ${id}
      returning org_id, id, updated_at, changed_at
    ), ${touchAgents(actor.orgId, sql`changed`)}
    select from changed`)

export const softDeleteSession = (db: Db, actor: Actor, id: string) =>
  db.execute(sql`
    update sessions set deleted_at = now(), revision = revision + 1
    where org_id = ${actor.orgId} and id = ${id} and deleted_at is null`)

/** Adds an agent and a person to the session unless they are participants already. */
export const addParticipants = (
  db: Db,
  orgId: string,
  sessionId: string,
  { agentId, userId }: { agentId: string; userId: string },
) =>
  db.execute(sql`
    insert into session_participants (org_id, session_id, kind, participant_id)
    values (${orgId}, ${sessionId}, 'agent', ${agentId}), (${orgId}, ${sessionId}, 'user', ${userId})
    on conflict do nothing`)
