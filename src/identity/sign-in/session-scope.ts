import type { BetterAuth } from './better-auth.ts'
import { headersOf } from './context.ts'
import type { BrowserRequest } from './context.ts'
import { overlaps } from './org-scope.ts'
import type { OrgScope } from './org-scope.ts'
import type { PasswordRow } from './queries.ts'
import { sessionCookie } from './session-cookie.ts'

/** The org scope of the browser's session. Later calls of Better Auth in this transaction have the same scope. */
export const scopeOfSession = async (auth: BetterAuth, request: BrowserRequest): Promise<OrgScope> => {
  await auth.api.getSession({ headers: headersOf(request, sessionCookie), query: { disableRefresh: true } })
  return auth.currentScope()
}

/** The password of the scope, among a person's passwords. Undefined when there is none. */
export const passwordOf = (rows: readonly PasswordRow[], orgScope: OrgScope): PasswordRow | undefined =>
  rows.find((row) => overlaps(row.orgScope, orgScope))
