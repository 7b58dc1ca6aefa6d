import { defineSealedColumn } from '../../../platform/encryption/reencrypt.ts'
import type { EventRow } from '../../../outbox/queries.ts'
import type { Sealer } from '../../../platform/encryption/secrets.ts'

export const pushSecretColumn = defineSealedColumn('task_push_configs', 'secret')

/** What authenticates a notification at its URL. */
export interface PushSecrets {
  token?: string
  /** The value of the header `Authorization`. */
  authorization?: string
}

/** When and in which chain of events a task reached its state. */
export type ReachedState = Pick<EventRow, 'chainId' | 'depth' | 'occurredAt'>

/** What is stored encrypted with a configuration. */
export interface SealedConfig extends PushSecrets {
  /** The state that the task had when it was configured: its event cannot be found, because events have no index by turn. */
  reached?: ReachedState
}

export const sealPushSecrets = (sealer: Sealer, orgId: string, id: string, config: SealedConfig): string =>
  sealer.seal(JSON.stringify(config), pushSecretColumn.at(orgId, id))

export const openPushSecrets = (sealer: Sealer, orgId: string, id: string, sealed: string): SealedConfig =>
  JSON.parse(sealer.open(sealed, pushSecretColumn.at(orgId, id))) as SealedConfig
