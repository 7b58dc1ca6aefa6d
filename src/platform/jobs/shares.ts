import type { Job } from 'pg-boss'
import type { Pair } from './claim-queries.ts'

/** What runs in this process: the number of jobs of each member of a group. */
export interface Running {
  size: number
  members: (Pair & { count: number })[]
}

export type Attempts = ReadonlyMap<string, { job: Pick<Job, 'groupId' | 'groupTier'> }>

const noOne = '-'

export const countsOf = (attempts: Attempts): Running => {
  const groups = new Map<string, Map<string, number>>()
  for (const { job } of attempts.values()) {
    const members = groups.get(job.groupId ?? noOne) ?? new Map<string, number>()
    members.set(job.groupTier ?? noOne, (members.get(job.groupTier ?? noOne) ?? 0) + 1)
    groups.set(job.groupId ?? noOne, members)
  }
  const members = [...groups].flatMap(([group, of]) => [...of].map(([member, count]) => ({ group, member, count })))
  return { size: attempts.size, members }
}

export interface Share {
  /** The most jobs to claim. */
  limit: number
  /** The groups that are held back, and the number of their members that get a place nevertheless. */
  held: { group: string; newcomers: number }[]
}

/**
 * How many jobs to claim, and which groups are held back. No group gets more places than are left for others, even if all
 * claimed jobs belong to it: one group alone fills half of the places, two fill a third each. Members of a group that run
 * nothing get a place each beyond that share, of all places two thirds at most, so that they do not wait for the work of
 * another member.
 */
export const shareOf = (concurrency: number, { size, members }: Running): Share => {
  const room = concurrency - size
  const groups = [...Map.groupBy(members, ({ group }) => group)].map(([group, of]) => ({
    group,
    count: of.reduce((sum, { count }) => sum + count, 0),
  }))
  const held = groups.filter(({ count }) => count >= room)
  const within = groups.flatMap(({ count }) => (count < room ? [count] : []))
  return {
    limit: Math.max(1, Math.floor((room - Math.max(0, ...within)) / 2)),
    held: held.map(({ group, count }) => {
      const newcomers = count < room * 2 ? Math.max(1, Math.floor((room * 2 - count) / 3)) : 0
      return { group, newcomers }
    }),
  }
}

/** What the group and the member of some work run. */
export const countsFor = (
  attempts: Attempts,
  { group, member = noOne }: { group: string; member?: string | undefined },
): { ofGroup: number; ofMember: number } => {
  const counts = { ofGroup: 0, ofMember: 0 }
  for (const { job } of attempts.values()) {
    if ((job.groupId ?? noOne) !== group) continue
    counts.ofGroup += 1
    if ((job.groupTier ?? noOne) === member) counts.ofMember += 1
  }
  return counts
}

/**
 * Whether work may begin without a job, by the same rules. While jobs of its group wait for places, only a member that
 * runs nothing may overtake them.
 */
export const mayBegin = (
  room: number,
  { ofGroup, ofMember }: { ofGroup: number; ofMember: number },
  isCrowded: boolean,
): boolean => (ofMember === 0 ? ofGroup < room * 2 : ofGroup < room && !isCrowded)
