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
 * What signs the cookies of sessions and encrypts second factors: made once for an installation, kept in its database
 * encrypted, the same for every process. New ENCRYPTION_KEYS therefore sign nobody out.
 */
export const createSignInSecret = (db: Database, sealer: Sealer): (() => Promise<string>) => {
  const place = signInSecretColumn.at('', 'true')
  const load = async (): Promise<string> => {
    let row = await queries.findSecret(db)
    if (!row) {
      await queries.insertSecret(db, sealer.seal(randomBytes(32).toString('base64'), place))
      // Another process may have been faster; its secret is the one.
      row = await queries.findSecret(db)
    }
    if (!row) throw new Error('the database did not keep the sign-in secret')
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
