import { randomBytes } from 'node:crypto'
import type { Database } from '../../platform/database/database.ts'
import { defineSealedColumn } from '../../platform/encryption/reencrypt.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import * as queries from './secret-queries.ts'

export const signInSecretColumn = defineSealedColumn('sign_in_secret', 'sealed', {
  orgColumn: null,
  idColumns: ['singleton'],
})

/**
 * The key that signs session cookies and encrypts second factors. It is generated once per installation and stored
 * encrypted in the database, so that all processes share it and rotating ENCRYPTION_KEYS signs nobody out.
 */
export const createSignInSecret = (db: Database, sealer: Sealer): (() => Promise<string>) => {
  const place = signInSecretColumn.at('', 'true')
  const load = async (): Promise<string> => {
    let row = await queries.findSecret(db)
    if (!row) {
      await queries.insertSecret(db, sealer.seal(randomBytes(32).toString('base64'), place))
      // Another process may have inserted its secret first.
      row = await queries.findSecret(db)
    }
    if (!row) throw new Error('the sign-in secret was not stored')
    return sealer.open(row.sealed, place)
  }
  let loading: Promise<string> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}
