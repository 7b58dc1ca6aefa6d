import type { TaskPushNotificationConfig } from '@a2a-js/sdk'
import type { Actor } from '../../../identity/actor.ts'
import { workspaceOf } from '../../../identity/actor.ts'
import { chainOf, currentChain, maxDepth } from '../../../outbox/chain.ts'
import type { EventChain } from '../../../outbox/chain.ts'
import type { Transaction } from '../../../platform/database/database.ts'
import type { Sealer } from '../../../platform/encryption/secrets.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { newId } from '../../../platform/ids.ts'
import type { Outbound } from '../../../platform/outbound/outbound.ts'
import type { Sdk } from '../sdk.ts'
import { malformed } from '../sdk.ts'
import type { DeliveryWake } from './dispatch.ts'
import { eventTypeOf, isEnd } from './dispatch.ts'
import * as queries from './queries.ts'
import type { PushConfigRow, PushRevision } from './queries.ts'
import { sealPushSecrets } from './secrets.ts'
import type { PushSecrets, ReachedState } from './secrets.ts'

export interface PushDeps {
  sdk: Sdk
  outbound: Pick<Outbound, 'cleanUrl'>
  secrets: Sealer
  deliveryWake: DeliveryWake
}

/** Each of them is a request for each state of the task. */
const maxOfTask = 5
/** Of the tasks of an org that have not ended. */
const maxOpen = 10_000
const maxName = 255
const maxUrl = 2_048
const maxToken = 1_024
const maxCredentials = 8_192

/** A configuration of a client whose fields and URL were checked. */
export interface CheckedConfig {
  /** Null: the id of the task. */
  name: string | null
  url: string
  scheme: string | null
  secrets: PushSecrets
  revision: PushRevision
}

const field = 'pushNotificationConfig'

/** The revision 0.3 passes on values of any type. Empty and missing values are the same in the protocol. */
const textOf = (sdk: Sdk, name: string, value: unknown, limit: number): string => {
  const text = value ?? ''
  if (typeof text !== 'string' || text.length > limit) {
    throw malformed(sdk, `${field}.${name} must be a string of at most ${limit} characters`)
  }
  return text
}

/** Values of headers: other characters could end the header, or have no meaning that both sides agree on. */
const headerOf = (sdk: Sdk, name: string, value: unknown, limit: number): string => {
  const text = textOf(sdk, name, value, limit)
  if (text !== '' && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)) {
    throw malformed(sdk, `${field}.${name} must be printable ASCII characters`)
  }
  return text
}

const readAuthentication = (sdk: Sdk, given: TaskPushNotificationConfig['authentication']) => {
  if (given === undefined) return undefined
  const scheme = textOf(sdk, 'authentication scheme', given.scheme, 64)
  // A token of RFC 9110, 5.6.2.
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(scheme)) {
    throw malformed(sdk, `${field}.authentication must name a scheme, such as Bearer`)
  }
  const credentials = headerOf(sdk, 'authentication.credentials', given.credentials, maxCredentials)
  if (credentials === '') {
    throw malformed(sdk, `${field}.authentication.credentials is required: the server has no other credentials`)
  }
  return { scheme, authorization: `${scheme} ${credentials}` }
}

const cleanUrl = async ({ outbound, sdk }: PushDeps, { orgId }: Actor, given: unknown): Promise<string> => {
  const url = textOf(sdk, 'url', given, maxUrl).trim()
  if (url === '') throw malformed(sdk, `${field}.url is required`)
  try {
    return await outbound.cleanUrl(url, { orgId })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'BAD_REQUEST')
      throw malformed(sdk, `${field}.url: ${error.message}`)
    throw error
  }
}

/** Call it before the transaction, because it resolves the host name. */
export const checkConfig = async (
  deps: PushDeps,
  actor: Actor,
  config: TaskPushNotificationConfig,
  revision: PushRevision,
): Promise<CheckedConfig> => {
  const { sdk } = deps
  const token = headerOf(sdk, 'token', config.token, maxToken)
  const authentication = readAuthentication(sdk, config.authentication)
  return {
    name: textOf(sdk, 'id', config.id, maxName) || null,
    url: await cleanUrl(deps, actor, config.url),
    scheme: authentication?.scheme ?? null,
    secrets: {
      ...(token === '' ? {} : { token }),
      ...(authentication && { authorization: authentication.authorization }),
    },
    revision,
  }
}

/** A configuration as clients read it. The token and the credentials are not returned: only the URL receives them. */
export const toRecord = ({ turnId, name, url, scheme }: Omit<PushConfigRow, 'id'>): TaskPushNotificationConfig => ({
  tenant: '',
  taskId: turnId,
  id: name,
  url,
  token: '',
  authentication: scheme === null ? undefined : { scheme, credentials: '' },
})

const remove = async (db: Transaction, orgId: string, turnId: string, name: string): Promise<void> => {
  const deleted = await queries.deleteConfig(db, orgId, turnId, name)
  if (deleted) await queries.deleteQueued(db, orgId, deleted.id)
}

const requireRoom = async (db: Transaction, sdk: Sdk, orgId: string, turnId: string): Promise<void> => {
  const ofTask = await queries.listConfigs(db, orgId, turnId)
  if (ofTask.length >= maxOfTask) {
    throw malformed(sdk, `A task has at most ${maxOfTask} push notification configurations`)
  }
  if ((await queries.countOpen(db, orgId, maxOpen)) >= maxOpen) {
    throw malformed(sdk, `An org has at most ${maxOpen} push notification configurations of tasks that have not ended`)
  }
}

/**
 * The chain of the notification that a configuration causes: that of the turn or that of the request, whichever is longer.
 * Without the latter, a receiver that configures the same task again would be notified for ever.
 */
const longestChain = (ofTurn: EventChain | undefined, ofRequest = currentChain()): EventChain | undefined =>
  ofRequest !== undefined && ofRequest.depth > (ofTurn?.depth ?? 0) ? ofRequest : ofTurn

/**
 * Stores a configuration of a task of the caller, in place of one with the same name. The turn is locked, so it either
 * changes its state after the commit, and the publisher of that event reads the configuration, or has changed it before:
 * the state of a task that has ended or waits for a person is sent at once, unless its chain of events is too long.
 */
export const setConfig = async (
  db: Transaction,
  deps: PushDeps,
  actor: Actor,
  { turnId, config }: { turnId: string; config: CheckedConfig },
): Promise<TaskPushNotificationConfig> => {
  const { sdk, secrets, deliveryWake } = deps
  const { orgId, userId, apiKey } = actor
  const { url, scheme, revision } = config
  const turn = await queries.lockTurn(db, orgId, turnId)
  if (!turn) throw new sdk.errors.TaskNotFoundError({ message: 'Task not found' })
  const [id, name] = [newId(), config.name ?? turnId]
  await remove(db, orgId, turnId, name)
  await requireRoom(db, sdk, orgId, turnId)
  const eventType = eventTypeOf(turn.status)
  const eventId = newId()
  const { id: chainId, depth } = longestChain(chainOf(turn)) ?? { id: eventId, depth: 0 }
  const reached: ReachedState = { chainId, depth, occurredAt: turn.changedAt }
  const row = { id, turnId, name, url, scheme }
  await queries.insertConfig(db, orgId, {
    ...row,
    workspaceId: workspaceOf(actor),
    sealed: sealPushSecrets(secrets, orgId, id, { ...config.secrets, ...(eventType && { reached }) }),
    revision,
    userId,
    apiKeyId: apiKey?.id ?? null,
    scopes: apiKey?.scopes ?? [],
    isEnded: eventType !== undefined && isEnd(eventType),
  })
  if (eventType !== undefined && depth <= maxDepth) {
    await queries.queueNotifications(db, orgId, [{ id: newId(), configId: id, eventId, eventType }])
    db.afterCommit(() => deliveryWake.notify([{ orgId, webhookId: id }]))
  }
  return toRecord(row)
}

/** What the configuration receives is not sent any more. A name that does not exist is no error. */
export const removeConfig = remove
