import type { Config } from '../config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/process/log.ts'
import type { Sealer } from '../platform/encryption/secrets.ts'
import { createActivity } from './activity.ts'
import type { NoteActivity } from './activity.ts'
import { createAuthority } from './authority.ts'
import type { ApiKeyAuthority } from './authority.ts'
import { createAuthorityWatch } from './authority-watch.ts'
import type { AuthorityWatch } from './authority-watch.ts'
import { createSessionAuthority } from './sign-in/session-authority.ts'
import type { SessionAuthority } from './sign-in/session-authority.ts'
import { createSignInContext } from './sign-in/context.ts'
import type { SignInContext } from './sign-in/context.ts'
import { createSignInSecret } from './sign-in/secret.ts'

export interface IdentityDeps {
  config: Config
  db: Database
  log: Log
  secrets: Sealer
  /** Milliseconds since 1970, for budgets of sign-in attempts and the activity of members. Default: the system clock. */
  now?: (() => number) | undefined
}

/** Authentication by API key and by session cookie, and sign-in. */
export interface Identity {
  authority: ApiKeyAuthority
  sessions: SessionAuthority
  watch: AuthorityWatch
  signIn: SignInContext
  noteActivity: NoteActivity
  baseUrl: string | undefined
}

/** Opens no connections; Better Auth is loaded by the first sign-in. */
export const createIdentity = ({ config, db, log, secrets, now }: IdentityDeps): Identity => {
  const secret = createSignInSecret(db, secrets)
  const sessions = createSessionAuthority(db, secret)
  return {
    authority: createAuthority(db, {
      keyEnvironment: config.keyEnvironment,
      onError: (error) => log.warn({ err: error }, 'last use of an API key not recorded'),
    }),
    sessions,
    watch: createAuthorityWatch(db, sessions, log),
    signIn: createSignInContext({ db, log, secret, now, attemptBudget: config.rateLimits.signIn }),
    noteActivity: createActivity(db, {
      now,
      onError: (error) => log.warn({ err: error }, 'activity of a member not recorded'),
    }),
    baseUrl: config.baseUrl,
  }
}
