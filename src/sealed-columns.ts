import { providerKeyColumn } from './billing/provider-keys.ts'
import { connectionSecretsColumn, oauthVerifierColumn } from './connectors/connection-secrets.ts'
import { endpointSecretColumn, replyToColumn } from './connectors/endpoint-secrets.ts'
import { signInSecretColumn } from './identity/sign-in-secret.ts'
import type { SealedColumnAt } from './platform/reencrypt.ts'
import { webhookSecretColumn } from './webhooks/secrets.ts'

/** Every column of sealed values, listed by hand: what `atrium reencrypt` goes through. */
export const sealedColumns: readonly SealedColumnAt[] = [
  signInSecretColumn,
  connectionSecretsColumn,
  oauthVerifierColumn,
  endpointSecretColumn,
  replyToColumn,
  providerKeyColumn,
  webhookSecretColumn,
]
