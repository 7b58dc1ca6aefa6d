import { Mistake } from './values.ts'
import type { Parse, ParsedOf, Variable } from './values.ts'

/** The names of the quotas, in the order of lists. */
export const quotaNames = ['storedBytes', 'files', 'eventsKept', 'webhooks', 'agents', 'connections'] as const

export type QuotaName = (typeof quotaNames)[number]

/** The limits of an org. Null: unlimited. */
export type QuotaLimits = Readonly<Record<QuotaName, number | null>>

export const isQuota = (value: unknown): value is number | null =>
  value === null || (Number.isSafeInteger(value) && (value as number) >= 0)

/** Whether the value is an object of known quota names with limits. */
export const isQuotas = (value: unknown): value is Partial<QuotaLimits> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.entries(value).every(([name, limit]) => quotaNames.some((one) => one === name) && isQuota(limit))

/** Parses `unlimited` (null) or a whole number. */
export const quota: Parse<number | null> = (value) => {
  if (value.toLowerCase() === 'unlimited') return null
  const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : new Mistake('must be a whole number, or unlimited')
}

const limit = (what: string, fallback: number): Variable<number | null> & { fallback: string } => ({
  description: `${what} of an org whose plan sets no limit. \`unlimited\`: no limit.`,
  fallback: String(fallback),
  parse: quota,
})

export const quotaVariables = {
  QUOTA_STORED_BYTES: limit('Bytes in files (107374182400 is 100 GB)', 107_374_182_400),
  QUOTA_FILES: limit('Files, folders and links', 2_000_000),
  QUOTA_EVENTS_KEPT: limit('Stored webhook events', 10_000_000),
  QUOTA_WEBHOOKS: limit('Webhooks', 1_000),
  QUOTA_AGENTS: limit('Agents', 20_000),
  QUOTA_CONNECTIONS: limit('Connections', 10_000),
} as const satisfies Record<string, Variable>

export const quotaLimitsOf = (parsed: ParsedOf<typeof quotaVariables>): QuotaLimits => ({
  storedBytes: parsed.QUOTA_STORED_BYTES,
  files: parsed.QUOTA_FILES,
  eventsKept: parsed.QUOTA_EVENTS_KEPT,
  webhooks: parsed.QUOTA_WEBHOOKS,
  agents: parsed.QUOTA_AGENTS,
  connections: parsed.QUOTA_CONNECTIONS,
})
