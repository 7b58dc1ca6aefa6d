import type { Task } from '@a2a-js/sdk'
import type { Actor } from '../../../identity/actor.ts'
import { may } from '../../../identity/actor.ts'
import { actorOfUser, isKeyLive } from '../../../identity/sign-in/user-authority.ts'
import { chainAfter, chainHeadersOf } from '../../../outbox/chain.ts'
import type { ChainHeaders, EventChain } from '../../../outbox/chain.ts'
import { maxExpandedBytes } from '../../../outbox/expand.ts'
import { findEvent } from '../../../outbox/queries.ts'
import type { Database, Db } from '../../../platform/database/database.ts'
import { UnsealError } from '../../../platform/encryption/secrets.ts'
import type { Sealer } from '../../../platform/encryption/secrets.ts'
import { findTurnMessage } from '../../../sessions/turns/details-queries.ts'
import { loadSdk } from '../sdk.ts'
import { isSameTime, taskOfRow } from '../tasks.ts'
import { pauseType } from './dispatch.ts'
import * as queries from './queries.ts'
import type { NotifiedTurn, PushRevision, PushTarget } from './queries.ts'
import { openPushSecrets } from './secrets.ts'
import type { ReachedState, SealedConfig } from './secrets.ts'

/** A notification that a worker has claimed. */
interface ClaimedNotification {
  orgId: string
  /** The id of the configuration. */
  webhookId: string
  eventId: string
  eventType: string
  userId: string | null
  apiKeyId: string | null
  scopes: string[] | null
  secret: string
}

/** What is sent; or why nothing is sent, now and later. */
type Prepared = { body: Buffer; headers: Record<string, string>; chain?: EventChain } | { error: string }

const lostRights =
  'The person who set the URL may not read the task any more, or their API key was revoked or has expired.'

/** A larger task is sent without its reply and its history. */
const maxBytes = maxExpandedBytes

/** The person who set the URL, with the rights that they have now. */
const readActor = async (
  db: Db,
  { orgId, userId, apiKeyId, scopes }: ClaimedNotification,
  { workspaceId }: PushTarget,
): Promise<Actor | undefined> => {
  if (userId === null) return undefined
  const [actor, isLive] = await Promise.all([
    actorOfUser(db, { orgId, userId, workspaceId, scopes: scopes ?? [] }),
    apiKeyId === null ? true : isKeyLive(db, orgId, apiKeyId),
  ])
  // The permission with which it was set, and with which a message that waits for its reply returns the reply.
  return isLive && actor && may(actor, 'sessions:write') ? actor : undefined
}

/**
 * The turn in the state that is reported. A pause can be over when it is reported, or reported again, and the turn can be in
 * its next one: the notification has the state and the time of its own pause. All other states are final.
 */
const turnAt = (turn: NotifiedTurn, eventType: string, reached: ReachedState | undefined): NotifiedTurn => {
  if (eventType !== pauseType) return turn
  const claimedAt = reached?.occurredAt ?? turn.claimedAt
  const isOver = turn.status !== 'requires_action' || !isSameTime(claimedAt, turn.claimedAt)
  return {
    ...turn,
    status: 'requires_action',
    stopReason: null,
    claimedAt,
    endedAt: null,
    reply: null,
    needs: isOver ? null : turn.needs,
  }
}

/** Undefined when no configured key opens them: another attempt would not either. */
const openSecrets = (sealer: Sealer, { orgId, webhookId, secret }: ClaimedNotification): SealedConfig | undefined => {
  try {
    return openPushSecrets(sealer, orgId, webhookId, secret)
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}

const serialize = async (revision: PushRevision, task: Task): Promise<{ body: string; contentType: string }> => {
  const sdk = await loadSdk()
  const serializer =
    revision === '1.0' ? new sdk.V1PushNotificationSerializer() : new sdk.V03PushNotificationSerializer()
  const serializeTask = (value: Task) => serializer.serialize({ payload: { $case: 'task', value } })
  const whole = serializeTask(task)
  return Buffer.byteLength(whole.body) > maxBytes ? serializeTask({ ...task, artifacts: [], history: [] }) : whole
}

/**
 * Reads the task of a notification with the rights that the person who set its URL has now. The body is the task in the
 * revision 0.3, and a stream response with the task in 1.0 (sections "Push Notification Payload" of the specifications).
 */
export const createPrepareTask =
  ({ db, chains, secrets }: { db: Database; chains: ChainHeaders; secrets: Sealer }) =>
  async (claimed: ClaimedNotification): Promise<Prepared> => {
    const { orgId, webhookId, eventId, eventType } = claimed
    const [target, event] = await Promise.all([
      queries.findTarget(db.hot, orgId, webhookId),
      findEvent(db.hot, orgId, eventId),
    ])
    if (!target) return { error: 'The push notification configuration was deleted.' }
    const [actor, turn] = await Promise.all([
      readActor(db.hot, claimed, target),
      queries.findNotifiedTurn(db.hot, orgId, target),
    ])
    if (!actor || turn?.userId !== actor.userId) return { error: lostRights }
    const opened = openSecrets(secrets, claimed)
    if (!opened) return { error: 'The token and the credentials could not be decrypted.' }
    // Without an event, the configuration is notified of the state in which it found the task.
    const reached: ReachedState | undefined = event ?? opened.reached
    const shown = turnAt(turn, eventType, reached)
    const task = taskOfRow(shown, shown.reply, await findTurnMessage(db.hot, orgId, turn))
    const { body, contentType } = await serialize(target.revision, task)
    const { token, authorization } = opened
    const chain = reached && chainAfter(reached)
    return {
      body: Buffer.from(body),
      headers: {
        'content-type': contentType,
        ...(token === undefined ? {} : { 'x-a2a-notification-token': token }),
        ...(authorization === undefined ? {} : { authorization }),
        ...(chain && chainHeadersOf(chains, orgId, chain)),
      },
      ...(chain && { chain }),
    }
  }
