import type { Actor } from '../../identity/actor.ts'
import type { Quotas } from '../../quotas/quotas.ts'

/** The space of an org in bytes. `available` is undefined without a limit. */
export interface Space {
  used: number
  available: number | undefined
}

export const readSpace = async (quotas: Quotas, { orgId }: Pick<Actor, 'orgId'>): Promise<Space | undefined> => {
  const stored = (await quotas.list(orgId)).find(({ name }) => name === 'storedBytes')
  if (!stored) return undefined
  const available = stored.limit === null ? undefined : Math.max(0, stored.limit - stored.used)
  return { used: stored.used, available }
}
