import type { Db as BossDb, Job } from 'pg-boss'
import { raw, sql } from '../database/database.ts'

// All orgs: jobs belong to the server; the rows that they name belong to orgs.

/** Jobs of older versions have no group. No name of a group or member sorts before these. */
const groupOf = raw("coalesce(group_id, '-')")
const memberOf = raw("coalesce(group_tier, '-')")
const isWaiting = raw("state < 'active' and not blocked")

/**
 * For finding the members with waiting jobs, and the oldest job of each, without reading the jobs between them. Only
 * `created_on`, which no other index has without the priority: otherwise a plan from a time when the table was empty could
 * read all waiting jobs of the kind.
 */
export const waitingIndex = sql`create index atrium_waiting
  on pgboss.job_common (name, ${groupOf}, ${memberOf}, created_on) where ${isWaiting}`

/** A group and one of its members; a group without members has the member `-`. */
export interface Pair {
  group: string
  member: string
}

/** Before all others. */
export const firstPair: Pair = { group: '', member: '' }

/** The most members that one claim considers. The next claim continues with the others. */
export const pairsPerClaim = 64

/** Jobs that other workers are claiming at the same moment are skipped. */
const spare = 20

export interface FairClaim {
  kind: string
  /** The most jobs to claim. */
  limit: number
  /** The running work of this process. */
  running: readonly (Pair & { count: number })[]
  /** Groups that have their share. `newcomers` is the number of members without running work that get one job each. */
  held: readonly { group: string; newcomers: number }[]
  /** Considers the members after this one. */
  after: Pair
}

export interface FairlyClaimed {
  jobs: Job[]
  /** The last of the members that were considered; undefined when these were all. */
  last: Pair | undefined
  /** The groups of `held` that have waiting jobs. */
  waiting: string[]
  /** Whether more jobs of the considered members were due than one claim reads. */
  isCut: boolean
}

type Row = { pairs: number; last: Pair | null; waiting: string[] | null; isCut: boolean } & (Job | { id: null })

/**
 * Claims the oldest due jobs of the groups and members that run the fewest. Jobs that another worker is claiming are
 * skipped. The changes of a claimed job are those of pg-boss.
 */
export const claimFairly = async (boss: BossDb, claim: FairClaim): Promise<FairlyClaimed> => {
  const { kind, limit, running, held, after } = claim
  const excluded = held.filter(({ newcomers }) => newcomers === 0).map(({ group }) => group)
  const statement = sql`
    with recursive running as (
      select * from unnest(${running.map(({ group }) => group)}::text[], ${running.map(({ member }) => member)}::text[],
        ${running.map(({ count }) => count)}::int[]) as r (group_name, member, count)
    ), held as (
      select * from unnest(${held.map(({ group }) => group)}::text[], ${held.map(({ newcomers }) => newcomers)}::int[])
        as h (group_name, newcomers)
    ), pairs as (
      (select ${groupOf} as group_name, ${memberOf} as member, 1 as place from pgboss.job
        where name = ${kind} and ${isWaiting} and (${groupOf}, ${memberOf}) > (${after.group}::text, ${after.member}::text)
        order by ${groupOf}, ${memberOf} limit 1)
      union all
      select next.group_name, next.member, p.place + 1
      from pairs p cross join lateral (
        select ${groupOf} as group_name, ${memberOf} as member from pgboss.job
        where name = ${kind} and ${isWaiting} and (${groupOf}, ${memberOf}) > (p.group_name,
          -- Members are ids: this skips those of a group that gets no job.
          case when p.group_name = any(${excluded}::text[]) then 'zzz' else p.member end)
        order by ${groupOf}, ${memberOf} limit 1
      ) next
      where p.place < ${pairsPerClaim}
    ), per_member as (
      -- Reading all that one member could get would be 64 times as much as one claim can use.
      select greatest(2, ceil(2.0 * ${limit + spare}::int / greatest(1, (select count(*) from pairs))))::int as jobs
    ), due as (
      select p.group_name, p.member, h.newcomers, c.id, c.created_on,
        coalesce(r.count, 0) + row_number() over (partition by p.group_name, p.member order by c.created_on) as of_member
      from pairs p
        left join running r on r.group_name = p.group_name and r.member = p.member
        left join held h on h.group_name = p.group_name
        cross join lateral (
          select id, created_on from pgboss.job
          where name = ${kind} and ${isWaiting} and ${groupOf} = p.group_name and ${memberOf} = p.member
            and start_after <= now()
          order by created_on
          limit case when h.newcomers is null then (select jobs from per_member) else 1 end) c
      where h.newcomers is null or (h.newcomers > 0 and r.count is null)
    ), placed as (
      select id, created_on, newcomers, of_member, group_name,
        row_number() over (partition by group_name order by of_member, created_on) as of_group
      from due
    ), ranked as (
      select id, created_on, of_member,
        of_group + coalesce((select sum(r.count) from running r where r.group_name = placed.group_name), 0) as of_group
      from placed where of_group <= coalesce(newcomers, of_group)
    ), chosen as (
      select * from ranked order by of_group, of_member, created_on limit ${limit + spare}
    ), locked as (
      select j.id from chosen k join pgboss.job j on j.name = ${kind} and j.id = k.id
      where ${raw("j.state < 'active'")} and j.start_after <= now()
      order by k.of_group, k.of_member, k.created_on
      limit ${limit}
      for update of j skip locked
    ), claimed as (
      update pgboss.job set state = 'active', started_on = now(), heartbeat_on = now(),
        retry_count = case when started_on is null then retry_count else retry_count + 1 end
      where name = ${kind} and id = any(array(select id from locked))
      returning id, name, data, retry_count as "retryCount", expire_seconds as "expireInSeconds",
        heartbeat_seconds as "heartbeatSeconds", group_id as "groupId", group_tier as "groupTier"
    ), considered as (
      select count(*)::int as pairs,
        (select json_build_object('group', group_name, 'member', member) from pairs order by place desc limit 1) as last,
        array_agg(distinct group_name) filter (where group_name in (select group_name from held)) as waiting,
        (select count(*) from chosen) >= ${limit + spare}
          or exists (select from due d group by d.group_name, d.member having count(*) >= (select jobs from per_member)) as "isCut"
      from pairs
    )
    select considered.*, claimed.* from considered left join claimed on true`
  const rows = (await boss.executeSql(statement.text, statement.values)).rows as Row[]
  const [first] = rows
  return {
    jobs: rows.filter((row): row is Extract<Row, { id: string }> => row.id !== null),
    last: first?.pairs === pairsPerClaim ? (first.last ?? undefined) : undefined,
    waiting: first?.waiting ?? [],
    isCut: first?.isCut === true,
  }
}
