import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Database, Transaction } from '../../platform/database/database.ts'
import { badRequest, forbidden, notFound } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { generateAccessToken, hashKey } from '../../platform/key-format.ts'
import type { KeyEnvironment } from '../../platform/key-format.ts'
import { recordEvent } from '../../outbox/record.ts'
import { systemActor } from '../actor.ts'
import type { Actor, AuditActor } from '../actor.ts'
import { revokeKey } from '../api-keys/queries.ts'
import { audit } from '../audit/audit.ts'
import { noWorkspaceAccess } from '../authority.ts'
import { seesAllWorkspaces } from '../permissions.ts'
import { findWorkspaceAccess } from '../queries.ts'
import * as queries from './queries.ts'
import type { GrantRow } from './queries.ts'
import type { AppScope, AuthorizationRequest } from './request.ts'

const codeSeconds = 60
export const accessSeconds = 3_600
const refreshSeconds = 30 * 86_400

/** An error of RFC 6749, 5.2. Returned and not thrown, so that the revocation that comes with it is committed. */
export interface OAuthError {
  error: 'invalid_grant' | 'invalid_scope'
  description: string
}

/** The tokens in plain text, which are not stored. */
export interface Tokens {
  accessToken: string
  refreshToken: string
  scopes: string[]
}

const random = (): string => randomBytes(32).toString('base64url')

const isSame = (one: Buffer | null, other: Buffer): boolean =>
  one !== null && one.length === other.length && timingSafeEqual(one, other)

const uuid = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}'
// They contain their org and authorization, so that they are looked up like every other row of a tenant.
const codeForm = new RegExp(`^(${uuid})\\.(${uuid})\\.[\\w-]{43}$`)
const refreshForm = new RegExp(`^(${uuid})\\.(${uuid})\\.([\\w-]{43})\\.[\\w-]{43}$`)

const invalidGrant = (description: string): OAuthError => ({ error: 'invalid_grant', description })
const unknownCode = invalidGrant('The authorization code is unknown, expired or was used before.')
const unknownToken = invalidGrant('The refresh token is unknown, expired or revoked.')

const eventOf = (grant: { id: string; name: string; userId: string; last4: string }) => ({
  subjectId: grant.id,
  workspaceId: null,
  ownerId: grant.userId,
  data: { apiKeyId: grant.id, name: grant.name, last4: grant.last4, userId: grant.userId },
})

const revoke = async (db: Transaction, actor: AuditActor, grant: GrantRow, reason: string): Promise<void> => {
  if (grant.isRevoked) return
  const { id, name, userId, clientId } = grant
  await revokeKey(db, actor.orgId, id)
  await audit(db, actor, 'app.revoked', { type: 'app', id, details: { name, userId, clientId, reason } })
  await recordEvent(db, actor, 'api_key.revoked', eventOf(grant))
}

/** Only a person at a browser can consent: an API key could otherwise create credentials that outlive it. */
export const requirePerson = (actor: Actor): void => {
  if (actor.apiKey !== null) throw forbidden('Sign in to authorize an app. An API key cannot do it.')
}

/** Creates an authorization and returns its code, which the app exchanges for tokens. */
export const authorizeApp = (
  db: Database,
  actor: Actor,
  request: AuthorizationRequest,
  chosen: { workspaceId: string; scopes: readonly AppScope[]; environment: KeyEnvironment },
): Promise<string> =>
  db.transaction(actor, async (db) => {
    const { client, redirectUri, codeChallenge } = request
    const { workspaceId, environment } = chosen
    const scopes = request.scopes.filter((scope) => chosen.scopes.includes(scope))
    // No scopes would mean all permissions.
    if (scopes.length === 0) throw badRequest('scopes must include one that the app asks for.')
    const access = await findWorkspaceAccess(db, actor.orgId, actor.userId, workspaceId)
    if (!access || !(access.isMember || seesAllWorkspaces(actor.role))) throw noWorkspaceAccess
    const id = newId()
    const code = `${actor.orgId}.${id}.${random()}`
    const { name } = client
    const { userId } = actor
    await queries.insertGrant(db, actor.orgId, {
      id,
      userId,
      workspaceId,
      name,
      scopes,
      clientId: client.id,
      redirectUri,
      prefix: `ata_${environment}_`,
      hash: randomBytes(32),
      codeHash: hashKey(code),
      codeChallenge,
      codeSeconds,
    })
    const details = { name, redirectUri, publisher: client.publisher, workspaceId, scopes }
    await audit(db, actor, 'app.authorized', { type: 'app', id, details })
    await recordEvent(db, actor, 'api_key.created', eventOf({ id, name, userId, last4: '' }))
    return code
  })

const issue = async (
  db: Transaction,
  orgId: string,
  { id, scopes }: GrantRow,
  { family, environment, isRetry = false }: { family: string; environment: KeyEnvironment; isRetry?: boolean },
): Promise<Tokens> => {
  const accessToken = generateAccessToken(environment)
  const refreshToken = `${orgId}.${id}.${family}.${random()}`
  await queries.setTokens(db, orgId, id, {
    hash: hashKey(accessToken),
    last4: accessToken.slice(-4),
    familyHash: hashKey(family),
    refreshHash: hashKey(refreshToken),
    accessSeconds,
    refreshSeconds,
    isRetry,
  })
  return { accessToken, refreshToken, scopes }
}

export interface CodeExchange {
  code: string
  clientId: string
  redirectUri: string
  verifier: string
  environment: KeyEnvironment
}

const provesChallenge = (verifier: string, challenge: string): boolean =>
  /^[\w.~-]{43,128}$/.test(verifier) && createHash('sha256').update(verifier).digest('base64url') === challenge

/** A code is accepted once. Using it again revokes what it was exchanged for (RFC 6749, 4.1.2). */
export const exchangeCode = async (db: Database, exchange: CodeExchange): Promise<Tokens | OAuthError> => {
  const { code, clientId, redirectUri, verifier, environment } = exchange
  const [, orgId, id] = codeForm.exec(code) ?? []
  if (orgId === undefined || id === undefined) return unknownCode
  return db.transaction({ orgId }, async (db) => {
    const grant = await queries.lockGrant(db, orgId, id)
    if (!grant || !isSame(grant.codeHash, hashKey(code))) return unknownCode
    if (grant.familyHash !== null) {
      await revoke(db, systemActor(orgId, grant.name), grant, 'code used twice')
      return unknownCode
    }
    if (grant.isRevoked || grant.isExpired) return unknownCode
    if (grant.clientId !== clientId) return invalidGrant('The authorization code was issued to another client.')
    if (grant.redirectUri !== redirectUri) return invalidGrant('redirect_uri differs from the authorization request.')
    if (!provesChallenge(verifier, grant.codeChallenge)) return invalidGrant('code_verifier does not match.')
    return issue(db, orgId, grant, { family: random(), environment })
  })
}

export interface Refresh {
  refreshToken: string
  clientId: string
  /** Scopes that the client asks for; undefined: those of the authorization. */
  scopes: readonly string[] | undefined
  environment: KeyEnvironment
}

/**
 * Replaces both tokens. A refresh token that was replaced before has been stolen: it revokes the family. Except for the
 * last one for 30 s, because the response with the current one may be lost (RFC 9700, 4.14.2). If it was a thief who used
 * it again, the tokens of the client end, and its next refresh revokes the family.
 */
export const refreshTokens = async (db: Database, refresh: Refresh): Promise<Tokens | OAuthError> => {
  const { refreshToken, clientId, scopes, environment } = refresh
  const [, orgId, id, family] = refreshForm.exec(refreshToken) ?? []
  if (orgId === undefined || id === undefined || family === undefined) return unknownToken
  return db.transaction({ orgId }, async (db) => {
    const grant = await queries.lockGrant(db, orgId, id)
    if (!grant || !isSame(grant.familyHash, hashKey(family))) return unknownToken
    const isRetry = isSame(grant.previousHash, hashKey(refreshToken))
    if (!isRetry && !isSame(grant.refreshHash, hashKey(refreshToken))) {
      await revoke(db, systemActor(orgId, grant.name), grant, 'refresh token used twice')
      return unknownToken
    }
    if (grant.isRevoked || !grant.isRefreshable) return unknownToken
    if (grant.clientId !== clientId) return invalidGrant('The refresh token was issued to another client.')
    if (scopes?.some((scope) => !grant.scopes.includes(scope)) === true) {
      return { error: 'invalid_scope' as const, description: 'scope exceeds that of the authorization.' }
    }
    return issue(db, orgId, grant, { family, environment, isRetry })
  })
}

const authorizationOf = async (db: Database, token: string): Promise<{ orgId: string; id: string } | undefined> => {
  const [, orgId, id] = refreshForm.exec(token) ?? []
  return orgId === undefined || id === undefined ? queries.findGrantOfToken(db, hashKey(token)) : { orgId, id }
}

/** Ends the authorization of an access or refresh token (RFC 7009). Unknown tokens and those of other clients change nothing. */
export const revokeToken = async (db: Database, token: string, clientId: string | undefined): Promise<void> => {
  const found = await authorizationOf(db, token)
  if (!found) return
  const { orgId, id } = found
  await db.transaction({ orgId }, async (db) => {
    const grant = await queries.lockGrant(db, orgId, id)
    const [, , , family] = refreshForm.exec(token) ?? []
    const isOwn = family === undefined || isSame(grant?.familyHash ?? null, hashKey(family))
    if (!grant || !isOwn || (clientId !== undefined && grant.clientId !== clientId)) return
    await revoke(db, systemActor(orgId, grant.name), grant, 'revoked by the app')
  })
}

/** Ends an authorization of the caller or, for owners and admins, any of the org. Doing it again changes nothing. */
export const revokeApp = (db: Database, actor: Actor, id: string): Promise<void> =>
  db.transaction(actor, async (db) => {
    if (!(await queries.findApp(db, actor, id))) throw notFound('App')
    const grant = await queries.lockGrant(db, actor.orgId, id)
    if (grant) await revoke(db, actor, grant, 'revoked by a person')
  })
