import { createAuthEndpoint } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { symmetricDecrypt } from 'better-auth/crypto'
import { betterAuth } from 'better-auth/minimal'
import { twoFactor } from 'better-auth/plugins/two-factor'
import type { Database } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { Log } from '../../platform/process/log.ts'
import { createAuthStorage } from './storage-queries.ts'
import { hashPassword, isPassword } from './passwords.ts'
import { clientAddressHeader, cookiePrefix, sessionSeconds } from './session-cookie.ts'

export interface AuthLibraryOptions {
  db: Database
  log: Log
  /** Signs cookies and encrypts second factors. */
  secret: string
}

/**
 * Begins a session for a person who has proved who they are, by password or by link. The path is that of the library's
 * own sign-in by user name: its two-factor plugin steps in after sign-ins on three fixed paths, and ours must be one of
 * them. Nothing of the library is reachable over HTTP; only our routes call it.
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
 * Better Auth, for what it is good at: sessions, the second factor with its attempts and backup codes, changing
 * passwords. This module and what it imports cost 50 MB and 0.3 s, so it is imported when the first person signs in.
 */
export const openAuthLibrary = ({ db, log, secret }: AuthLibraryOptions) => {
  const storage = createAuthStorage(db)
  const auth = betterAuth({
    appName: 'Atrium',
    // Never used for a URL; the library wants one, and by it would choose the cookies' names.
    baseURL: 'http://localhost',
    secret,
    database: storage.adapter,
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      // Our schemas count code points, the library UTF-16 units, of which a code point may have two.
      minPasswordLength: 8,
      maxPasswordLength: 256,
      password: {
        hash: (password) => hashPassword(password, storage.saltNow()),
        verify: ({ hash, password }) => isPassword(password, hash),
      },
    },
    session: { expiresIn: sessionSeconds, updateAge: 86_400, cookieCache: { enabled: false } },
    advanced: {
      cookiePrefix,
      // `Secure` is added by the scheme of the request; see sign-in-library.ts.
      useSecureCookies: false,
      database: { generateId: newId },
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
    },
    // Every route is counted by our own limiter, across processes.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      log: (_level, message) => {
        log.warn({ message }, 'sign-in library')
      },
    },
    plugins: [twoFactor({ issuer: 'Atrium' }), provenSignIn],
  })
  return {
    api: auth.api,
    within: storage.within,
    reachNow: storage.reachNow,
    opening: storage.opening,
    userNow: storage.userNow,
    salting: storage.salting,
    decrypt: (data: string): Promise<string> => symmetricDecrypt({ key: secret, data }),
  }
}

export type AuthLibrary = ReturnType<typeof openAuthLibrary>
