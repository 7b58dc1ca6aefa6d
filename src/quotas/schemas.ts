import { quotaNames } from '../config/quotas.ts'
import { Nullable, TimestampOf } from '../platform/http/schemas.ts'
import { Type } from 'typebox'

export const Quota = Type.Object(
  {
    name: Type.Enum([...quotaNames], {
      description: 'What is limited. `files` also counts folders and links.',
    }),
    limit: Nullable(
      Type.Integer({ description: 'Maximum for the org, in `unit`. Null: unlimited.', examples: [107_374_182_400] }),
    ),
    used: Type.Integer({
      description: 'Current usage of the org, in `unit`. It exceeds the limit when the limit was lowered.',
      examples: [524_288_000],
    }),
    trashed: Nullable(
      Type.Integer({
        description: 'Part of `used` that is in the trash, in `unit`. Null for quotas without a trash.',
        examples: [1_048_576],
      }),
    ),
    unit: Type.Enum(['bytes', 'count'], { description: 'Unit of `limit` and `used`.' }),
    plan: Nullable(
      Type.String({ description: "ID of the org's plan. Null on a server without plans.", examples: ['free'] }),
    ),
    source: Type.Enum(['plan', 'operator'], {
      description: 'Where the limit comes from: the plan, or a limit that the operator of the server set for the org.',
    }),
    lastRefusedAt: Nullable(TimestampOf('Time of the last request that was rejected because of this quota.', null)),
  },
  { description: 'A quota of the org and its usage.' },
)

export const QuotaList = Type.Object(
  { items: Type.Array(Quota, { description: 'All quotas of the org.' }) },
  { description: 'Quotas of the org.' },
)
