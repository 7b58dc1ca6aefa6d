import { randomBytes } from 'node:crypto'
import { badRequest } from '../platform/http/errors.ts'
import { defineSealedColumn } from '../platform/encryption/reencrypt.ts'
import { sha256 } from '../platform/signatures/signed-request.ts'
import { standardKey, standardSecret } from '../platform/signatures/standard-webhooks.ts'
import { discordKey } from '../providers/discord.ts'
import { usesStandardWebhooks } from '../providers/providers.ts'

export const webhookSecretColumn = defineSealedColumn('webhooks', 'secret')
export const eventEndpointSecretColumn = defineSealedColumn('event_endpoints', 'secret')

const randomSecret = (): string => standardSecret(randomBytes(32))

/** Without `+`, `/` and `=`, which Telegram does not allow in a secret token. */
const randomTelegramSecret = (): string => {
  for (;;) {
    const secret = standardSecret(randomBytes(24))
    if (/^\w+$/.test(secret)) return secret
  }
}

export interface GivenSecret {
  secret?: string | undefined
  publicKey?: string | undefined
}

export interface NewSecret {
  secret: string
  hash: Buffer
  publicKey: string | null
}

/** The secret that the provider issued, or a generated one. BAD_REQUEST if the source cannot verify with it. */
export const createSecret = (source: string, given: GivenSecret): NewSecret => {
  const name = source.toLowerCase()
  const isTelegram = name === 'telegram'
  if (given.secret !== undefined && usesStandardWebhooks(source) && standardKey(given.secret) === undefined) {
    throw badRequest('secret must be whsec_ followed by the base64 of 24–64 bytes; omit it to generate one')
  }
  if (given.secret !== undefined && isTelegram && !/^[A-Za-z0-9_-]+$/.test(given.secret)) {
    throw badRequest('secret must contain only A-Z, a-z, 0-9, _ and - for Telegram')
  }
  if (given.publicKey !== undefined && discordKey(given.publicKey) === undefined) {
    throw badRequest('publicKey must be an Ed25519 public key of 64 hexadecimal digits')
  }
  const secret = given.secret ?? (isTelegram ? randomTelegramSecret() : randomSecret())
  return { secret, hash: sha256(secret), publicKey: given.publicKey ?? null }
}

/**
 * The key that signs forwarded events. Of a secret in another format than that of Standard Webhooks, the key is its
 * bytes: the destination configures its library with `whsec_` and their base64.
 */
export const forwardingKey = (secret: string): Buffer => standardKey(secret) ?? Buffer.from(secret, 'utf8')
