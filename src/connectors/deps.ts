import type { ConnectorSettings } from '../config/connectors.ts'
import type { SessionAuthority } from '../identity/sign-in/session-authority.ts'
import type { Database } from '../platform/database/database.ts'
import type { Sealer } from '../platform/encryption/secrets.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import type { Log } from '../platform/process/log.ts'
import type { Quotas } from '../quotas/quotas.ts'

/** For requests to providers. */
export interface ProviderDeps {
  config: { connectors: ReadonlyMap<string, ConnectorSettings> }
  outbound: Outbound
  /** Timeout of one request, for tests with slow providers. Default: 15 s for tokens, 30 s otherwise. */
  requestTimeoutMs?: number
}

/**
 * Fault points: crash tests end the process after the provider has processed a request and before its result is stored.
 */
export type OAuthFaultPoint = 'after-exchange' | 'after-refresh' | 'before-revocation'

/** For requests to providers with the credentials of a connection. */
export interface AccessDeps extends ProviderDeps {
  db: Database
  log: Log
  secrets: Sealer
  onFaultPoint?: (point: OAuthFaultPoint) => void
}

export interface ConnectorRouteDeps extends Omit<AccessDeps, 'config'> {
  config: AccessDeps['config'] & { baseUrl: string | undefined }
  jobs: Jobs
  quotas: Quotas
  sessions: SessionAuthority
}

/** Runs the work of a sweep for one org, so that the orgs after one that fails have their turn. */
export type AttemptForOrg = (orgId: string, work: () => Promise<unknown>) => Promise<void>
