import type { FastifyReply, FastifyRequest } from 'fastify'
import { claimName, copyOver, moveFile } from '../../files/files.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { badRequest, forbidden } from '../../platform/http/errors.ts'
import { etagOf } from '../../platform/http/etag.ts'
import { checkConditions, depthOf } from './conditions.ts'
import type { DavDeps } from './deps.ts'
import { failedPrecondition } from './errors.ts'
import { requireUnlocked } from './locks/locks.ts'
import type { Change } from './locks/locks.ts'
import { deleteLocks, moveLocks } from './locks/queries.ts'
import {
  findTarget,
  hrefOf,
  hrefOfTarget,
  namesOfReference,
  requireExisting,
  requireParent,
  targetOf,
} from './paths.ts'
import type { Target } from './paths.ts'
import { copyProperties, deleteProperties } from './properties/queries.ts'

interface Transfer {
  source: Target & { entry: NonNullable<Target['entry']> }
  destination: Target
  name: string
  parent: NonNullable<Target['parent']>
  tokens: ReadonlySet<string>
}

const isWithin = (inner: readonly string[], outer: readonly string[]): boolean =>
  outer.length <= inner.length && outer.every((name, index) => inner[index] === name)

const readTransfer = async ({ db, config }: DavDeps, request: FastifyRequest): Promise<Transfer> => {
  const { actor, headers } = request
  const source = requireExisting(await targetOf(db, request))
  const tokens = await checkConditions({ db, baseUrl: config.baseUrl }, request, source)
  const reference = headers['destination']
  if (typeof reference !== 'string') throw badRequest('The Destination header is missing.')
  const destination = await findTarget(db, actor, namesOfReference(reference, request, config.baseUrl))
  const { entry } = source
  if (!entry) throw forbidden('The root folder cannot be copied or moved.')
  if (destination.names.length === 0) throw forbidden('The root folder cannot be replaced.')
  // By ids as well, because a file can have two addresses.
  if (
    isWithin(destination.chain, source.chain) ||
    isWithin(source.chain, destination.exists ? destination.chain : [''])
  )
    throw forbidden('The source and the destination must not contain each other.')
  const parent = requireParent(destination)
  const overwrite = String(headers['overwrite'] ?? 'T')
    .trim()
    .toUpperCase()
  if (overwrite !== 'T' && overwrite !== 'F') throw badRequest('Overwrite must be T or F.')
  if (destination.exists && overwrite === 'F') {
    throw failedPrecondition('The destination exists, and Overwrite is F.')
  }
  const name = destination.names.at(-1) ?? ''
  return { source: { ...source, entry }, destination, name, parent, tokens }
}

/**
 * Checks the locks of the destination, and that its name is still free or that of the replaced file. Locks of the replaced
 * file stay at its address, those of what is in it end.
 */
const claimDestination = async (
  db: Transaction,
  request: FastifyRequest,
  { destination, name, parent, tokens }: Transfer,
): Promise<void> => {
  const { actor } = request
  const href = hrefOfTarget(destination)
  const changes: Change[] = [{ chain: parent.chain, href }]
  if (destination.exists) changes.push({ chain: destination.chain, isDeep: true, href })
  const locks = await requireUnlocked(db, actor, tokens, changes)
  const inside = locks.filter(({ fileId }) => fileId !== destination.entry?.id)
  await deleteLocks(
    db,
    actor.orgId,
    inside.map(({ id }) => id),
  )
  await claimName(db, actor, { parentId: parent.parentId, name }, destination.entry?.id)
}

const sendDone = (reply: FastifyReply, { destination, source }: Transfer) =>
  destination.exists
    ? reply.code(204).send()
    : reply.code(201).header('location', hrefOf(destination.names, source.isFolder)).send()

/** The name of the file that stays when its address, which can have its id, is the destination. */
const finalName = ({ destination, name }: Transfer): string => destination.entry?.name ?? name

/** Whether a file takes the place of a file, which gets its bytes as a new version and keeps its own locks. */
const isNewVersion = ({ source, destination }: Transfer): boolean =>
  source.entry.source === 'upload' && destination.entry?.source === 'upload'

/**
 * Copies a file or folder. The copy of a file becomes a new version of a file at the destination; anything else that is
 * there goes to the trash.
 */
export const copy = async (deps: DavDeps, request: FastifyRequest, reply: FastifyReply) => {
  const { actor } = request
  const transfer = await readTransfer(deps, request)
  const { source, destination, parent } = transfer
  const isDeep = depthOf(request, ['0', 'infinity']) === 'infinity'
  const replaced = destination.entry
  await copyOver({ ...deps, db: deps.db.guarded((db) => claimDestination(db, request, transfer)) }, actor, {
    sourceId: source.entry.id,
    ifMatch: etagOf(source.entry),
    parentId: parent.parentId,
    name: finalName(transfer),
    isDeep,
    replaced,
    onCopied: async (db, copies) => {
      const { orgId } = actor
      const copyId = copies.get(source.entry.id) ?? ''
      if (replaced?.id === copyId) await deleteProperties(db, orgId, copyId)
      else if (replaced) await moveLocks(db, orgId, replaced.id, copyId)
      await copyProperties(db, orgId, copies)
    },
  })
  return sendDone(reply, transfer)
}

/** Moves or renames a file or folder, and replaces like `copy`. Locks do not move with it. */
export const move = async (deps: DavDeps, request: FastifyRequest, reply: FastifyReply) => {
  const { actor } = request
  const transfer = await readTransfer(deps, request)
  const { source, destination, parent } = transfer
  if (source.isFolder) depthOf(request, ['infinity'])
  const replaced = destination.entry
  const guarded = deps.db.guarded(async (db) => {
    const href = hrefOfTarget(source)
    const { orgId } = actor
    const ofSource = await requireUnlocked(db, actor, transfer.tokens, [
      { chain: source.chain, isDeep: true, href },
      { chain: requireParent(source).chain, href },
    ])
    await deleteLocks(
      db,
      orgId,
      ofSource.map(({ id }) => id),
    )
    await claimDestination(db, request, transfer)
    if (!replaced) return
    if (isNewVersion(transfer)) {
      await deleteProperties(db, orgId, replaced.id)
      await copyProperties(db, orgId, new Map([[source.entry.id, replaced.id]]))
    } else await moveLocks(db, orgId, replaced.id, source.entry.id)
  })
  await moveFile({ ...deps, db: guarded }, actor, source.entry.id, {
    parentId: parent.parentId,
    name: finalName(transfer),
    ifMatch: etagOf(source.entry),
    replaced,
  })
  return sendDone(reply, transfer)
}
