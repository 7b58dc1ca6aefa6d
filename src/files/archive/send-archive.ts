import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onceClosed } from '../../platform/http/closed.ts'
import { tooManyRequests } from '../../platform/http/errors.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import { inSearchQueue } from '../../platform/http/limits/search-queue.ts'
import { createFairQueue } from '../../platform/process/fair-queue.ts'
import type { FairQueue } from '../../platform/process/fair-queue.ts'
import { dispositionOf, downloadHeaders } from '../downloads/content-headers.ts'
import { archiveOf, checkArchive } from './archive.ts'
import type { ArchiveDeps, ArchiveOf } from './archive.ts'
import { ArchiveLimit, archiveLimits } from './limits.ts'

export interface ArchiveResponse {
  of: ArchiveOf
  name: string
  /** A person of the org, or a visitor of one of its shares, who is counted by address. */
  receiver: { orgId: string; userId: string } | { orgId: string; shareId: string }
  /** Called before the first byte is sent. */
  begin?: () => Promise<void>
}

export interface ArchiveSender {
  /** Resolves when the response has ended. Throws like checkArchive, and TOO_MANY_REQUESTS. */
  send(request: FastifyRequest, reply: FastifyReply, response: ArchiveResponse): Promise<FastifyReply>
}

/** A client that reads nothing for this time does not keep its place. */
const stallMs = 60_000

const limitNames: Record<keyof typeof archiveLimits, string> = {
  person: 'of one person',
  org: 'of an org',
  address: 'of one network address',
  share: 'of one link',
  visitors: 'of all links of an org',
}

const tooMany = (limit: keyof typeof archiveLimits): Error =>
  tooManyRequests(
    `At most ${archiveLimits[limit]} archives ${limitNames[limit]} can be downloaded at the same time. Try again when one is complete.`,
    { cause: new ArchiveLimit(limit), headers: { 'retry-after': '10' } },
  )

/** Places without a queue. */
const createPlaces = (group: 'org' | 'visitors' | 'share', member: 'person' | 'address'): FairQueue =>
  createFairQueue({
    running: Number.MAX_SAFE_INTEGER,
    runningPerGroup: archiveLimits[group],
    runningPerMember: archiveLimits[member],
    waiting: 0,
    waitingPerGroup: 0,
    busy: (reached) => tooMany(reached === 'member' ? member : group),
  })

const searcherOf = (receiver: ArchiveResponse['receiver'], ip: string): { orgId: string; userId: string } =>
  'userId' in receiver ? receiver : { orgId: `visitors of ${receiver.orgId}`, userId: addressGroup(ip) }

/** Passes the bytes on. Returns how long the reader has not asked for more. */
const watchReader = (bytes: AsyncIterable<Buffer>): { bytes: AsyncIterable<Buffer>; idleMs: () => number } => {
  let since: number | undefined
  const passed = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      since = performance.now()
      yield chunk
      since = undefined
    }
  }
  return { bytes: passed(), idleMs: () => (since === undefined ? 0 : performance.now() - since) }
}

const stream = async (
  { db, objects }: ArchiveDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  of: ArchiveOf,
): Promise<void> => {
  const closed = new AbortController()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const { bytes, idleMs } = watchReader(archiveOf({ db, objects }, of, closed.signal))
  const timer = setInterval(() => {
    if (idleMs() > stallMs) reply.raw.destroy()
  }, stallMs / 10)
  const isPublic = request.routeOptions.config.access === 'public'
  const unwatch = isPublic ? undefined : request.watchAuthority(() => void reply.raw.destroy())
  onceClosed(reply.raw, () => {
    clearInterval(timer)
    unwatch?.()
    // Ends a read that waits for the object store.
    closed.abort(new Error('the response was closed'))
    end()
  })
  void reply.send(Readable.from(bytes, { objectMode: false, highWaterMark: 65_536 }))
  await ended
}

/** Sends archives of files and folders as they are made. Nothing is stored. */
export const createArchiveSender = (deps: ArchiveDeps): ArchiveSender => {
  const people = createPlaces('org', 'person')
  const visitors = createPlaces('visitors', 'address')
  const shares = createPlaces('share', 'address')
  const inPlace = <T>(receiver: ArchiveResponse['receiver'], ip: string, work: () => Promise<T>): Promise<T> => {
    const { orgId } = receiver
    if ('userId' in receiver) return people.run(work, { group: orgId, member: receiver.userId })
    return visitors.run(() => shares.run(work, { group: receiver.shareId }), { group: orgId, member: addressGroup(ip) })
  }
  return {
    send: (request, reply, { of, name, receiver, begin }) =>
      inPlace(receiver, request.ip, async () => {
        // Measuring 100,000 files takes half a second of a connection, of which a process has a few.
        await inSearchQueue(searcherOf(receiver, request.ip), () => checkArchive(deps.db, of))
        const { content, protection } = downloadHeaders('application/zip', dispositionOf('attachment', name))
        const headers = { ...content, ...protection, 'cache-control': 'private, no-store', 'accept-ranges': 'none' }
        if (request.method === 'HEAD') return reply.headers(headers).send()
        await begin?.()
        void reply.headers(headers)
        await stream(deps, request, reply, of)
        return reply
      }),
  }
}
