import type { QuotaName } from '../config/quotas.ts'

const byteUnits = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'] as const

const numbers = new Intl.NumberFormat('en-US')

/** Bytes in units of 1,024 with at most three digits, as in the console: `250 MB`, `99.9 GB`. */
export const formatBytes = (bytes: number): string => {
  if (bytes === 1) return '1 byte'
  let value = bytes
  let unit = 0
  while (value >= 1_024 && unit < byteUnits.length - 1) {
    value /= 1_024
    unit += 1
  }
  // Rounded down, so that an amount below the limit is never shown as the limit.
  const digits = value >= 100 || unit === 0 ? 0 : value >= 10 ? 1 : 2
  return `${numbers.format(Math.floor(value * 10 ** digits) / 10 ** digits)} ${byteUnits[unit]}`
}

const nouns: Record<Exclude<QuotaName, 'storedBytes'>, string> = {
  files: 'files',
  eventsKept: 'webhook events',
  webhooks: 'webhooks',
  agents: 'agents',
  connections: 'connections',
}

const amountOf = (name: QuotaName, amount: number): string =>
  name === 'storedBytes' ? formatBytes(amount) : numbers.format(amount)

const limitOf = (name: QuotaName, limit: number): string => {
  if (name === 'storedBytes') return `${formatBytes(limit)} of stored files`
  return `${numbers.format(limit)} ${limit === 1 ? nouns[name].slice(0, -1) : nouns[name]}`
}

export interface Excess {
  name: QuotaName
  limit: number
  used: number
  requested: number
  /** The part of `used` in the trash. */
  trashed?: number
}

/** States the quota, the usage and what to do next. */
export const excessMessage = ({ name, limit, used, requested, trashed = 0 }: Excess, isUpgradable: boolean): string => {
  const figures = `${amountOf(name, used)} used, ${amountOf(name, requested)} more requested`
  const next = isUpgradable ? 'choose a larger plan' : 'ask the operator of this server for a larger quota'
  const first = trashed > 0 ? `Empty the trash, which has ${amountOf(name, trashed)} of them` : 'Delete some'
  return `The org's quota of ${limitOf(name, limit)} would be exceeded: ${figures}. ${first}, or ${next}.`
}
