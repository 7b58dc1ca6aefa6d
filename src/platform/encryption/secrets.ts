import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface EncryptionKey {
  /** 1 to 32 of A-Z, a-z, 0-9, `_` and `-`. */
  id: string
  /** 32 bytes. */
  key: Buffer
}

/** Parses `id:base64`. Undefined when the form is wrong or the key does not have 32 bytes. */
export const parseEncryptionKey = (text: string): EncryptionKey | undefined => {
  const [, id, encoded] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]+={0,2})$/.exec(text.trim()) ?? []
  if (id === undefined || encoded === undefined) return undefined
  const key = Buffer.from(encoded, 'base64')
  return key.length === 32 ? { id, key } : undefined
}

/** The location of a sealed value. It cannot be opened in another row, column, table or org. */
export interface SealedAt {
  table: string
  column: string
  orgId: string
  rowId: string
}

/** Encrypts values that must be stored and decrypted later: provider credentials, signing secrets. */
export interface Sealer {
  /** Encrypts with the current key, for a `text` column: `v1.<key id>.<base64url of nonce, ciphertext and tag>`. */
  seal(plain: string, at: SealedAt): string
  /** Decrypts. Throws an UnsealError for a changed, truncated or moved value and for an unknown key. */
  open(sealed: string, at: SealedAt): string
  keyIdOf(sealed: string): string
  readonly currentKeyId: string
  readonly keyIds: readonly string[]
  /** Derives keys for another purpose, such as signing URLs: one for each key, in the same order. */
  deriveKeys(purpose: string): EncryptionKey[]
}

/** Contains the id of the key, but nothing of the value. */
export class UnsealError extends Error {
  readonly keyId: string | undefined

  constructor(message: string, keyId?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnsealError'
    this.keyId = keyId
  }
}

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const format = /^v1\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]+)$/

// JSON, so that two different locations cannot produce the same bytes.
const boundTo = (keyId: string, { table, column, orgId, rowId }: SealedAt): Buffer =>
  Buffer.from(JSON.stringify(['v1', keyId, table, column, orgId, rowId]))

const parse = (sealed: string): { keyId: string; bytes: Buffer } => {
  const [, keyId, encoded] = format.exec(sealed) ?? []
  if (keyId === undefined || encoded === undefined) throw new UnsealError('This is not a sealed value.')
  const bytes = Buffer.from(encoded, 'base64url')
  // Base64 ignores bits at its end, so that several texts decode to the same bytes: only the canonical one is accepted.
  if (bytes.toString('base64url') !== encoded || bytes.length < nonceBytes + tagBytes) {
    throw new UnsealError(`The value sealed under the key ${keyId} is damaged.`, keyId)
  }
  return { keyId, bytes }
}

/** The first key encrypts, all keys decrypt. */
export const createSealer = (keys: EncryptionKey[]): Sealer => {
  const [current] = keys
  if (!current) throw new Error('a sealer needs a key')
  if (keys.some(({ key }) => key.length !== 32)) throw new Error('an encryption key must have 32 bytes')
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  return {
    seal: (plain, at) => {
      if (!plain.isWellFormed())
        throw new Error('a text with an unpaired surrogate cannot be sealed: it would open as another text')
      const nonce = randomBytes(nonceBytes)
      const sealing = createCipheriv(cipher, current.key, nonce, { authTagLength: tagBytes })
      sealing.setAAD(boundTo(current.id, at))
      const bytes = Buffer.concat([nonce, sealing.update(plain, 'utf8'), sealing.final(), sealing.getAuthTag()])
      return `v1.${current.id}.${bytes.toString('base64url')}`
    },
    open: (sealed, at) => {
      const { keyId, bytes } = parse(sealed)
      const key = byId.get(keyId)
      if (!key) throw new UnsealError(`The encryption key ${keyId} is not among the configured ones.`, keyId)
      const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
      opening.setAAD(boundTo(keyId, at))
      opening.setAuthTag(bytes.subarray(-tagBytes))
      try {
        return Buffer.concat([opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()]).toString('utf8')
      } catch (error) {
        throw new UnsealError(
          `The value sealed under the key ${keyId} cannot be opened: it was changed or moved, or the key is wrong.`,
          keyId,
          { cause: error },
        )
      }
    },
    keyIdOf: (sealed) => parse(sealed).keyId,
    currentKeyId: current.id,
    keyIds: keys.map(({ id }) => id),
    deriveKeys: (purpose) =>
      keys.map(({ id, key }) => ({ id, key: Buffer.from(hkdfSync('sha256', key, '', `atrium ${purpose}`, 32)) })),
  }
}
