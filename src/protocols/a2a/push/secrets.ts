import { defineSealedColumn } from '../../../platform/encryption/reencrypt.ts'
import type { Sealer } from '../../../platform/encryption/secrets.ts'

export const pushSecretColumn = defineSealedColumn('task_push_configs', 'secret')

/** What authenticates a notification at its URL. */
export interface PushSecrets {
  token?: string
  /** The value of the header `Authorization`. */
  authorization?: string
}

export const sealPushSecrets = (sealer: Sealer, orgId: string, id: string, secrets: PushSecrets): string =>
  sealer.seal(JSON.stringify(secrets), pushSecretColumn.at(orgId, id))

export const openPushSecrets = (sealer: Sealer, orgId: string, id: string, sealed: string): PushSecrets =>
  JSON.parse(sealer.open(sealed, pushSecretColumn.at(orgId, id))) as PushSecrets
