import { standingsOf } from '../../identity/sign-in/user-authority.ts'
import type { Standing } from '../../identity/sign-in/user-authority.ts'
import type { Db } from '../../platform/database/database.ts'
import type { ShareRow } from './queries.ts'

/** Whether the creator has left the org since: the share ends for good then, also when they are added again. */
export const isOfEarlierMember = ({ createdAt }: Pick<ShareRow, 'createdAt'>, { memberSince }: Standing): boolean =>
  Date.parse(memberSince) > Date.parse(createdAt)

const isOver = (share: ShareRow, standing: Standing | undefined): boolean => {
  if (share.expiresAt !== null && Date.parse(share.expiresAt) <= Date.now()) return true
  return standing === undefined || isOfEarlierMember(share, standing)
}

/** Shares with whether they have ended: expired, or without their creator or the API key of the creator. */
export const withEnds = async <Row extends ShareRow>(
  db: Db,
  orgId: string,
  shares: readonly Row[],
): Promise<(Row & { ended: boolean })[]> => {
  if (shares.length === 0) return []
  const creators = shares.map(({ createdBy: userId, apiKeyId, keyScopes: scopes }) => ({ userId, apiKeyId, scopes }))
  const standings = await standingsOf(db, orgId, creators)
  return shares.map((share, index) => ({ ...share, ended: isOver(share, standings[index]) }))
}
