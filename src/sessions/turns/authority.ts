import { actorOfUser, findKeyExpiry } from '../../identity/sign-in/user-authority.ts'
import type { AuthorityWatch } from '../../identity/sign-in/user-authority.ts'
import type { Database } from '../../platform/database/database.ts'
import { forbidden, unauthorized } from '../../platform/http/errors.ts'
import type { ErrorDetail } from './queries.ts'
import type { ClaimedTurn } from './claim-queries.ts'

export const keyRevoked: ErrorDetail = {
  code: 'key_revoked',
  message: 'The API key that started this turn was revoked or has expired.',
}
export const memberLeft: ErrorDetail = {
  code: 'forbidden',
  message: 'The person who started this turn is no longer a member of the workspace.',
}

const expiryOf = (expiresAt: string | null): number =>
  expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)

/**
 * Calls `onLost` within a second after the turn's API key was revoked or has expired, or its person left the org or the
 * workspace. Returns a function that stops the watch. With `isLookedUpLater`, call it before the authority of the turn is
 * loaded, or a change in between is missed.
 */
export const watchTurnAuthority = (
  db: Database,
  watch: AuthorityWatch,
  { orgId, turn, isLookedUpLater }: { orgId: string; turn: ClaimedTurn; isLookedUpLater: boolean },
  onLost: (reason: ErrorDetail) => void,
): (() => void) => {
  const { workspaceId, userId, scopes, apiKeyId } = turn
  const check = async () => {
    const [actor, key] = await Promise.all([
      actorOfUser(db.hot, { orgId, userId, workspaceId, scopes }),
      apiKeyId === null ? null : findKeyExpiry(db.hot, orgId, apiKeyId),
    ])
    if (key === undefined) return unauthorized(keyRevoked.message)
    return actor ? { ...actor, apiKey: key && { expiresAtMs: expiryOf(key.expiresAt) } } : forbidden(memberLeft.message)
  }
  const standing = { orgId, workspaceId, apiKey: { expiresAtMs: expiryOf(turn.keyExpiresAt) } }
  return watch.add({ caller: turn.id, standing, access: 'member', isLookedUpLater, lookUp: check }, ({ code }) =>
    onLost(code === 'UNAUTHORIZED' ? keyRevoked : memberLeft),
  )
}
