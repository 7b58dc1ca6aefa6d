import { Mistake } from './values.ts'
import type { Parse, ParsedOf, Variable } from './values.ts'

/** What an org's quotas limit, in the order in which they are listed. */
export const quotaNames = ['storedBytes', 'files', 'eventsKept', 'webhooks', 'agents', 'connections'] as const

export type QuotaName = (typeof quotaNames)[number]

/** The most of each. Null: unlimited. */
export type QuotaLimits = Readonly<Record<QuotaName, number | null>>

export const isQuota = (value: unknown): value is number | null =>
  value === null || (Number.isSafeInteger(value) && (value as number) >= 0)

/** Some quotas of a plan: an object of known names with limits. */
export const isQuotas = (value: unknown): value is Partial<QuotaLimits> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.entries(value).every(([name, limit]) => quotaNames.some((one) => one === name) && isQuota(limit))

/** `unlimited`, or a whole number. */
export const quota: Parse<number | null> = (value) => {
  if (value.toLowerCase() === 'unlimited') return null
  const limit = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(limit) ? limit : new Mistake('must be a whole number, or unlimited')
}

const most = (what: string, fallback: number): Variable<number | null> & { fallback: string } => ({
  description: `${what} of an org whose plan sets no other limit; \`unlimited\` for no limit.`,
  fallback: String(fallback),
  parse: quota,
})

export const quotaVariables = {
  QUOTA_STORED_BYTES: most('The most bytes in files (107374182400 are 100 GB)', 107_374_182_400),
  QUOTA_FILES: most('The most files, folders and links', 2_000_000),
  QUOTA_EVENTS_KEPT: most('The most webhook events kept', 10_000_000),
  QUOTA_WEBHOOKS: most('The most webhooks', 1_000),
  QUOTA_AGENTS: most('The most agents', 20_000),
  QUOTA_CONNECTIONS: most('The most connections', 10_000),
} as const satisfies Record<string, Variable>

export const quotaLimitsOf = (parsed: ParsedOf<typeof quotaVariables>): QuotaLimits => ({
  storedBytes: parsed.QUOTA_STORED_BYTES,
  files: parsed.QUOTA_FILES,
  eventsKept: parsed.QUOTA_EVENTS_KEPT,
  webhooks: parsed.QUOTA_WEBHOOKS,
  agents: parsed.QUOTA_AGENTS,
  connections: parsed.QUOTA_CONNECTIONS,
})
