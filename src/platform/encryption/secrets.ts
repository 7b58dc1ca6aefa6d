import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface EncryptionKey {
  /** 1 to 32 of A-Z, a-z, 0-9, `_` and `-`. */
  id: string
  /** 32 bytes. */
  key: Buffer
}

/** Reads `id:base64`; undefined when it is not that, or not 32 bytes. */
export const parseEncryptionKey = (text: string): EncryptionKey | undefined => {
  const [, id, encoded] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]+={0,2})$/.exec(text.trim()) ?? []
  if (id === undefined || encoded === undefined) return undefined
  const key = Buffer.from(encoded, 'base64')
  return key.length === 32 ? { id, key } : undefined
}

/** Where a sealed value lives. It opens nowhere else: not in another row, column, table or org. */
export interface SealedAt {
  table: string
  column: string
  orgId: string
  rowId: string
}

/** Encrypts what must be stored and read back: provider credentials, signing secrets. */
export interface Sealer {
  /** The text under the current key, for a `text` column: `v1.<key id>.<base64url of nonce, ciphertext and tag>`. */
  seal(plain: string, at: SealedAt): string
  /** Throws an UnsealError for what was tampered with, cut, moved, or sealed under a key that is not here. */
  open(sealed: string, at: SealedAt): string
  keyIdOf(sealed: string): string
  readonly currentKeyId: string
  readonly keyIds: readonly string[]
  /** Keys for another purpose, such as signing URLs, derived from these; as many and in the same order. */
  deriveKeys(purpose: string): EncryptionKey[]
}

/** Says which key was asked for, and nothing of what was sealed. */
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

// JSON, so that no two places give the same bytes.
const boundTo = (keyId: string, { table, column, orgId, rowId }: SealedAt): Buffer =>
  Buffer.from(JSON.stringify(['v1', keyId, table, column, orgId, rowId]))

const parse = (sealed: string): { keyId: string; bytes: Buffer } => {
  const [, keyId, encoded] = format.exec(sealed) ?? []
  if (keyId === undefined || encoded === undefined) throw new UnsealError('This is not a sealed value.')
  const bytes = Buffer.from(encoded, 'base64url')
  // Base64 has spare bits at its end: without this, several texts would stand for the same bytes.
  if (bytes.toString('base64url') !== encoded || bytes.length < nonceBytes + tagBytes) {
    throw new UnsealError(`The value sealed under the key ${keyId} is damaged.`, keyId)
  }
  return { keyId, bytes }
}

/** The first key seals, all of them open. */
export const createSealer = (keys: EncryptionKey[]): Sealer => {
  const [current] = keys
  if (!current) throw new Error('a sealer needs a key')
  if (keys.some(({ key }) => key.length !== 32)) throw new Error('an encryption key has 32 bytes')
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  return {
    seal: (plain, at) => {
      if (!plain.isWellFormed()) throw new Error('a text with half of a surrogate pair would not open as it was sealed')
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
          `The value sealed under the key ${keyId} does not open: it was changed or moved, or the key is another one.`,
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
