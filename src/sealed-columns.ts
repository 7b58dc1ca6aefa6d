import { providerKeyColumn } from './billing/provider-keys/provider-keys.ts'
import { connectionSecretsColumn, oauthClientColumn, oauthVerifierColumn } from './connectors/connections/secrets.ts'
import { endpointSecretColumn, replyToColumn } from './connectors/endpoints/secrets.ts'
import { signInSecretColumn } from './identity/sign-in/secret.ts'
import type { SealedColumnAt } from './platform/encryption/reencrypt.ts'
import { pushSecretColumn } from './protocols/a2a/push/secrets.ts'
import { eventEndpointSecretColumn, webhookSecretColumn } from './webhooks/secrets.ts'

/** Every column of sealed values, which `atrium reencrypt` processes. */
export const sealedColumns: readonly SealedColumnAt[] = [
  signInSecretColumn,
  connectionSecretsColumn,
  oauthVerifierColumn,
  oauthClientColumn,
  endpointSecretColumn,
  replyToColumn,
  providerKeyColumn,
  webhookSecretColumn,
  eventEndpointSecretColumn,
  pushSecretColumn,
]
