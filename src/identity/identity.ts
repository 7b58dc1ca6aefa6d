import type { Config } from '../config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/process/log.ts'
import type { Sealer } from '../platform/encryption/secrets.ts'
import { createAuthority } from './authority.ts'
import type { Authority } from './authority.ts'
import { createAuthorityWatch } from './authority-watch.ts'
import type { AuthorityWatch } from './authority-watch.ts'
import { createSessionAuthority } from './sign-in/session-authority.ts'
import type { SessionAuthority } from './sign-in/session-authority.ts'
import { createSignInLibrary } from './sign-in/sign-in-library.ts'
import type { SignInLibrary } from './sign-in/sign-in-library.ts'
import { createSignInSecret } from './sign-in/secret.ts'

export interface IdentityDeps {
  config: Config
  db: Database
  log: Log
  secrets: Sealer
  /** For budgets of attempts to sign in; the system's clock when left out. */
  now?: (() => number) | undefined
}

/** Who is calling, by key and by cookie, and what people do to sign in. */
export interface Identity {
  authority: Authority
  sessions: SessionAuthority
  watch: AuthorityWatch
  library: SignInLibrary
  baseUrl: string | undefined
}

/** Opens nothing yet: the first key asks the database, the first person loads the sign-in library. */
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
    library: createSignInLibrary({ db, log, secret, now, attemptBudget: config.rateLimits.signIn }),
    baseUrl: config.baseUrl,
  }
}
