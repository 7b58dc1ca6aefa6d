import { randomBytes } from 'node:crypto'
import { badRequest } from '../platform/http/errors.ts'
import { defineSealedColumn } from '../platform/encryption/reencrypt.ts'
import { discordKey } from '../platform/signatures/discord.ts'
import { sha256 } from '../platform/signatures/signed-request.ts'
import { standardKey, standardSecret } from '../platform/signatures/standard-webhooks.ts'
import { isStandardSource } from './receive/sources.ts'

export const webhookSecretColumn = defineSealedColumn('webhooks', 'secret')

const randomSecret = (): string => standardSecret(randomBytes(32))

/** One that means the same in base64 and base64url: Telegram takes only the latter's letters. */
const randomPlainSecret = (): string => {
  for (;;) {
    const secret = standardSecret(randomBytes(24))
    if (/^\w+$/.test(secret)) return secret
  }
}

export interface GivenSecret {
  secret?: string | undefined
  publicKey?: string | undefined
}

export interface MadeSecret {
  secret: string
  hash: Buffer
  publicKey: string | null
}

/** The secret that a provider issued, or a fresh one. BAD_REQUEST for one that the source could never verify with. */
export const makeSecret = (source: string, given: GivenSecret): MadeSecret => {
  const name = source.toLowerCase()
  const isTelegram = name === 'telegram'
  if (given.secret !== undefined && isStandardSource(source) && standardKey(given.secret) === undefined) {
    throw badRequest('secret must be whsec_ and the base64 of 24 to 64 bytes; leave it out to have one made')
  }
  if (given.secret !== undefined && isTelegram && !/^[A-Za-z0-9_-]+$/.test(given.secret)) {
    throw badRequest('secret must be made of A-Z, a-z, 0-9, _ and -, as Telegram takes no other')
  }
  if (given.publicKey !== undefined && discordKey(given.publicKey) === undefined) {
    throw badRequest('publicKey must be the 64 hexadecimal digits of an Ed25519 public key')
  }
  const secret = given.secret ?? (isTelegram ? randomPlainSecret() : randomSecret())
  return { secret, hash: sha256(secret), publicKey: given.publicKey ?? null }
}

/**
 * What forwarded events are signed with. A secret that is not Standard Webhooks' own counts by its bytes: receivers
 * give their library `whsec_` and the base64 of them.
 */
export const forwardingKey = (secret: string): Buffer => standardKey(secret) ?? Buffer.from(secret, 'utf8')
