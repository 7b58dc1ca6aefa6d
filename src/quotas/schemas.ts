import { quotaNames } from '../config/quotas.ts'
import { Nullable, Timestamp } from '../platform/http/schemas.ts'
import { Type } from 'typebox'

export const Quota = Type.Object({
  name: Type.Enum([...quotaNames], { description: 'What is limited. `files` counts folders and links, too' }),
  limit: Nullable(Type.Integer({ description: 'The most that the org may have; null: unlimited' })),
  used: Type.Integer({
    description: 'What the org has now, in the same unit. It may be above a limit that was lowered',
  }),
  unit: Type.Enum(['bytes', 'count']),
  plan: Nullable(Type.String({ description: "The id of the org's plan; null on a server without plans" })),
  source: Type.Enum(['plan', 'operator'], {
    description: '`operator`: the operator of the server set this limit for the org',
  }),
  lastRefusedAt: Nullable(Timestamp),
})

export const QuotaList = Type.Object({ items: Type.Array(Quota) })
