import { createAuthEndpoint } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { symmetricDecrypt } from 'better-auth/crypto'
import { betterAuth } from 'better-auth/minimal'
import { twoFactor } from 'better-auth/plugins/two-factor'
import type { Database } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { Log } from '../../platform/process/log.ts'
import { createAuthStorage } from './storage-queries.ts'
import { clientAddressHeader, cookiePrefix, sessionSeconds } from './session-cookie.ts'

export interface BetterAuthOptions {
  db: Database
  log: Log
  /** Signs cookies and encrypts second factors. */
  secret: string
}

/**
 * Begins a session for a person who has proved who they are, by password or by link. The two-factor plugin acts on
 * sign-ins on three fixed paths only, so this endpoint has one of them: that of Better Auth's sign-in by user name. No
 * endpoint of Better Auth is reachable over HTTP.
 */
const provenSignIn = {
  id: 'proven-sign-in',
  endpoints: {
    signInProven: createAuthEndpoint(
      '/sign-in/username',
      { method: 'POST', metadata: { $Infer: { body: {} as { userId: string } } } },
      async (ctx) => {
        const { internalAdapter } = ctx.context
        const user = await internalAdapter.findUserById(ctx.body.userId)
        if (!user) throw new Error(`there is no user ${ctx.body.userId}`)
        const session = await internalAdapter.createSession(user.id)
        await setSessionCookie(ctx, { session, user })
        return ctx.json({ twoFactorRedirect: false, token: session.token })
      },
    ),
  },
}

/**
 * Better Auth (docs/decisions/0004-sign-in.md): sessions, second factors with their attempts and backup codes, and
 * password changes. Importing this module takes 50 MB and 0.3 s, so it is imported when the first person signs in.
 */
export const openBetterAuth = ({ db, log, secret }: BetterAuthOptions) => {
  const storage = createAuthStorage(db)
  const auth = betterAuth({
    appName: 'Atrium',
    // Required by Better Auth, which would derive cookie names from it; no URL is built from it.
    baseURL: 'http://localhost',
    secret,
    database: storage.adapter,
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      // Twice the limit of our schemas: Better Auth counts UTF-16 units, of which a code point may have two.
      minPasswordLength: 8,
      maxPasswordLength: 256,
      // A hash waits for its turn. Inside the transaction it would keep a connection of the pool from everybody else, so
      // callers calculate and compare hashes before.
      password: {
        hash: () => Promise.resolve(storage.newHash()),
        verify: ({ hash }) => Promise.resolve(storage.isProven(hash)),
      },
    },
    session: { expiresIn: sessionSeconds, updateAge: 86_400, cookieCache: { enabled: false } },
    advanced: {
      cookiePrefix,
      // `Secure` depends on the request; see `cookiesOf` in context.ts.
      useSecureCookies: false,
      database: { generateId: newId },
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
    },
    // Our own rate limits count across processes.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      log: (_level, message) => {
        log.warn({ message }, 'Better Auth')
      },
    },
    plugins: [twoFactor({ issuer: 'Atrium' }), provenSignIn],
  })
  return {
    api: auth.api,
    within: storage.within,
    currentScope: storage.currentScope,
    setScope: storage.setScope,
    currentUser: storage.currentUser,
    setHashes: storage.setHashes,
    decrypt: (data: string): Promise<string> => symmetricDecrypt({ key: secret, data }),
  }
}

export type BetterAuth = ReturnType<typeof openBetterAuth>
