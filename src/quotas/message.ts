import type { QuotaName } from '../config-quotas.ts'

const byteUnits = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'] as const

/** Decimal units, at most three digits: `250 MB`, `99.9 GB`. */
export const formatBytes = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 1_000 && unit < byteUnits.length - 1) {
    value /= 1_000
    unit += 1
  }
  // Rounded down, so that less than the limit never reads as the limit.
  const digits = value >= 100 || unit === 0 ? 0 : value >= 10 ? 1 : 2
  const rounded = Math.floor(value * 10 ** digits) / 10 ** digits
  return bytes === 1 ? '1 byte' : `${rounded} ${byteUnits[unit]}`
}

const numbers = new Intl.NumberFormat('en-US')

const things: Record<QuotaName, string> = {
  storedBytes: 'stored files',
  files: 'files',
  eventsKept: 'webhook events',
  webhooks: 'webhooks',
  agents: 'agents',
  connections: 'connections',
}

const amountOf = (name: QuotaName, amount: number): string =>
  name === 'storedBytes' ? formatBytes(amount) : numbers.format(amount)

export interface Excess {
  name: QuotaName
  limit: number
  used: number
  asked: number
}

/** What the quota allows, what is used, and what to do next. */
export const excessMessage = ({ name, limit, used, asked }: Excess, isUpgradable: boolean): string => {
  const quota =
    name === 'storedBytes' ? `${formatBytes(limit)} of stored files` : `${amountOf(name, limit)} ${things[name]}`
  const figures = `${amountOf(name, used)} used, ${amountOf(name, asked)} more requested`
  const next = isUpgradable ? 'choose a larger plan' : 'ask the operator of this server for a larger quota'
  return `The org's quota of ${quota} would be exceeded: ${figures}. Delete some, or ${next}.`
}
