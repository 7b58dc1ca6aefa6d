import type { Quota } from 'atrium-sdk'
import { formatBytes, formatNumber } from '../../format.ts'

export const quotaLabels: Record<Quota['name'], string> = {
  storedBytes: 'Stored files',
  files: 'Files and folders',
  eventsKept: 'Webhook events kept',
  webhooks: 'Webhooks',
  agents: 'Agents',
  connections: 'Connections',
}

export const amountOf = ({ unit }: Quota, value: number): string =>
  unit === 'bytes' ? formatBytes(value) : formatNumber(value)

/** How much of it is used, 0 to 1. */
export const shareOf = ({ used, limit }: Quota): number => {
  if (limit === null) return 0
  return limit === 0 ? 1 : Math.min(1, used / limit)
}

/** From 80 % on people are warned. */
export const isNear = (quota: Quota): boolean => quota.limit !== null && shareOf(quota) >= 0.8

/** A request was rejected because of it within the last day. */
export const wasRefused = ({ lastRefusedAt }: Quota): boolean =>
  lastRefusedAt !== null && Date.now() - Date.parse(lastRefusedAt) < 86_400_000
