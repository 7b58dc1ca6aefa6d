import { defineSealedColumn } from '../../platform/encryption/reencrypt.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'

export const connectionSecretsColumn = defineSealedColumn('connections', 'secrets')
export const oauthVerifierColumn = defineSealedColumn('oauth_states', 'verifier')
export const oauthClientColumn = defineSealedColumn('oauth_states', 'client')

/** Credentials by field name, or `accessToken` and `refreshToken` of a grant. */
export type Secrets = Readonly<Record<string, string>>

interface Location {
  orgId: string
  id: string
}

export const sealSecrets = (sealer: Sealer, { orgId, id }: Location, secrets: Secrets): string =>
  sealer.seal(JSON.stringify(secrets), connectionSecretsColumn.at(orgId, id))

/** Throws an UnsealError when the sealed text cannot be opened with the current keys. */
export const openSecrets = (sealer: Sealer, { orgId, id }: Location, sealed: string): Secrets =>
  JSON.parse(sealer.open(sealed, connectionSecretsColumn.at(orgId, id))) as Secrets
