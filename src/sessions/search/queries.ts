import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import type { Actor } from '../../identity/actor.ts'
import { listedColumns, matchesFilter, nameFormerMembers, visible } from '../queries.ts'
import { atStart } from '../message-queries.ts'
import type { ListedSession, SessionFilter } from '../queries.ts'

export interface Search extends SessionFilter {
  workspaceId: string
  agentId: string | undefined
  /** A tsquery of `queryOf`. */
  query: string
  limit: number
}

const found = (actor: Actor, { workspaceId, agentId, ...filter }: Search): Sql => sql`
  ${visible(actor, workspaceId)} ${matchesFilter(filter)} ${
    agentId === undefined
      ? empty
      : sql`and exists (
    select from session_participants p
    where p.org_id = ${actor.orgId} and p.session_id = s.id and p.kind = 'agent' and p.participant_id = ${agentId})`
  }`

/**
 * Of the `most` sessions that changed last, those whose title matches, last changed first. `word` is one of the words of
 * the query: computing the words of 5,000 titles would take most of a second.
 */
export const listByTitle = (db: Db, actor: Actor, search: Search, { word, most }: { word: string; most: number }) =>
  db.rows<{ id: string }>(sql`
    select recent.id
    from (
      select s.org_id, s.id, s.title, s.updated_at from sessions s
      where ${found(actor, search)}
      order by s.changed_at desc
      limit ${most}
    ) recent
    where case when strpos(lower(recent.title), ${word}) > 0
      then search_words(recent.org_id, recent.title) @@ ${search.query}::tsquery end
    order by recent.updated_at desc, recent.id desc
    limit ${search.limit}`)

export interface FoundMessage {
  id: string
  sessionId: string
  role: 'user' | 'assistant'
  text: string
}

/** Messages of a period, by the smallest ids at its beginning and after its end. */
export interface Period {
  from: string
  to: string
  /** The most matching messages of the org that are considered, so that a frequent word does not read all of them. */
  most: number
}

/** The newest matching message of each session, the newest first. */
export const listByText = (db: Db, actor: Actor, search: Search, { from, to, most }: Period) =>
  db.rows<FoundMessage>(sql`
    with matching as materialized (
      select m.id, m.session_id, m.position from messages m
      where m.org_id = ${actor.orgId} and m.id >= ${atStart(from)} and m.id < ${atStart(to)}
        and coalesce(m.words, search_words(m.org_id, left(message_text(m.parts), 4000))) @@ ${search.query}::tsquery
      limit ${most}
    ), newest as (
      select distinct on (session_id) id, session_id from matching order by session_id, position desc
    ), page as (
      select newest.id from newest join sessions s on s.org_id = ${actor.orgId} and s.id = newest.session_id
      where ${found(actor, search)}
      order by newest.id desc
      limit ${search.limit}
    )
    select m.id, m.session_id, m.role, message_text(m.parts) as text
    from page join messages m on m.org_id = ${actor.orgId} and m.id = page.id
      and m.id >= ${atStart(from)} and m.id < ${atStart(to)}
    order by m.id desc`)

/** These sessions as a list, last changed first. */
export const listFound = async (
  db: Db,
  actor: Actor,
  search: Search,
  ids: readonly string[],
): Promise<ListedSession[]> => {
  const rows = await db.rows<ListedSession>(sql`
    select ${listedColumns(actor)} from sessions s
    where ${found(actor, search)} and s.id = any(${ids}::uuid[])
    order by s.updated_at desc, s.id desc
    limit ${search.limit}`)
  return nameFormerMembers(db, rows)
}
