import type { AuthLibrary } from './auth-library.ts'
import type { PasswordRow } from '../members/person-queries.ts'
import { overlaps } from './reach.ts'
import type { Reach } from './reach.ts'
import { sessionCookie } from './session-cookie.ts'
import { headersOf } from './sign-in-library.ts'
import type { Visit } from './sign-in-library.ts'

/** How far the session of the browser reaches, which the library's calls in this transaction then do as well. */
export const reachOfSession = async (library: AuthLibrary, visit: Visit): Promise<Reach> => {
  await library.api.getSession({ headers: headersOf(visit, sessionCookie), query: { disableRefresh: true } })
  return library.reachNow()
}

/** Of a person's passwords the one that the session's orgs ask for. Undefined when none does. */
export const passwordOf = (rows: readonly PasswordRow[], reach: Reach): PasswordRow | undefined =>
  rows.find((row) => overlaps(row.reach, reach))
