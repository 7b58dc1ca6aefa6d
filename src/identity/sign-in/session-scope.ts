import type { BetterAuth } from './better-auth.ts'
import { headersOf } from './context.ts'
import type { BrowserRequest, SignInContext } from './context.ts'
import { overlaps } from './org-scope.ts'
import type { OrgScope } from './org-scope.ts'
import { findPasswords } from './queries.ts'
import type { PasswordRow } from './queries.ts'
import { noSession, sessionCookie } from './session-cookie.ts'

/**
 * The org scope of the browser's session. Later calls of Better Auth in this transaction have the same scope. Throws
 * UNAUTHORIZED when the session has ended since the request was authenticated.
 */
export const scopeOfSession = async (auth: BetterAuth, request: BrowserRequest): Promise<OrgScope> => {
  const headers = headersOf(request, sessionCookie)
  const session = await auth.api.getSession({ headers, query: { disableRefresh: true } })
  if (!session) throw noSession
  return auth.currentScope()
}

/** The password of the scope, among a person's passwords. Undefined when there is none. */
export const passwordOf = (rows: readonly PasswordRow[], orgScope: OrgScope): PasswordRow | undefined =>
  rows.find((row) => overlaps(row.orgScope, orgScope))

/** The passwords of a person who is signed in, and among them that of the session. */
export const findPasswordsOfSession = (
  context: SignInContext,
  userId: string,
  request: BrowserRequest,
): Promise<{ rows: PasswordRow[]; own: PasswordRow | undefined }> =>
  context.transaction(async (db, auth) => {
    const sessionScope = await scopeOfSession(auth, request)
    const rows = await findPasswords(db, userId)
    return { rows, own: passwordOf(rows, sessionScope) }
  })
