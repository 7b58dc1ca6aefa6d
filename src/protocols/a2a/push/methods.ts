import type { A2ARequestHandler } from '@a2a-js/sdk/server'
import type { Actor } from '../../../identity/actor.ts'
import type { Database } from '../../../platform/database/database.ts'
import { checkConfig, removeConfig, setConfig, toRecord } from './configs.ts'
import type { PushDeps } from './configs.ts'
import { listConfigs } from './queries.ts'
import type { PushRevision } from './queries.ts'

interface Call {
  actor: Actor
  revision: PushRevision
  allow(permission: 'sessions:read' | 'sessions:write', limit: 'reads' | 'writes'): Promise<void>
  /** Throws for a task that is not the caller's. */
  requireOwn(taskId: string): Promise<unknown>
}

type PushMethods = Pick<
  A2ARequestHandler,
  | 'createTaskPushNotificationConfig'
  | 'getTaskPushNotificationConfig'
  | 'listTaskPushNotificationConfigs'
  | 'deleteTaskPushNotificationConfig'
>

/** The methods for the push notification configurations of the caller's tasks. */
export const createPushMethods = (
  deps: PushDeps & { db: Database },
  { actor, revision, allow, requireOwn }: Call,
): PushMethods => {
  const { db, sdk } = deps
  const { orgId } = actor
  return {
    createTaskPushNotificationConfig: async (params) => {
      await allow('sessions:write', 'writes')
      const { taskId: turnId } = params
      await requireOwn(turnId)
      const config = await checkConfig(deps, actor, params, revision)
      return db.transaction(actor, (db) => setConfig(db, deps, actor, { turnId, config }))
    },
    // Without an id, which the revision 0.3 allows: the one that was set without a name, or the first one.
    getTaskPushNotificationConfig: async ({ taskId, id }) => {
      await allow('sessions:read', 'reads')
      await requireOwn(taskId)
      const configs = await listConfigs(db, orgId, taskId)
      const config = configs.find(({ name }) => name === (id || taskId)) ?? (id ? undefined : configs[0])
      if (!config) throw new sdk.errors.TaskNotFoundError({ message: 'Push notification configuration not found' })
      return toRecord(config)
    },
    listTaskPushNotificationConfigs: async ({ taskId }) => {
      await allow('sessions:read', 'reads')
      await requireOwn(taskId)
      return { configs: (await listConfigs(db, orgId, taskId)).map(toRecord), nextPageToken: '' }
    },
    // One that does not exist is no error, so that a request can be sent again.
    deleteTaskPushNotificationConfig: async ({ taskId, id }) => {
      await allow('sessions:write', 'writes')
      await requireOwn(taskId)
      await db.transaction(actor, (db) => removeConfig(db, orgId, taskId, id))
    },
  }
}
