import type { Text } from '../../i18n/text.ts'
import { msg } from '@lingui/core/macro'
import type { Quota } from '@atrium/client'
import { formatBytes, formatNumber } from '../../format.ts'

export const quotaLabels: Record<Quota['name'], Text> = {
  storedBytes: msg`Stored files`,
  files: msg`Files and folders`,
  eventsKept: msg`Webhook events kept`,
  webhooks: msg`Webhooks`,
  agents: msg`Agents`,
  connections: msg`Connections`,
}

export const amountOf = ({ unit }: Quota, value: number): string =>
  unit === 'bytes' ? formatBytes(value) : formatNumber(value)

/** The used share, 0 to 1. */
export const shareOf = ({ used, limit }: Quota): number => {
  if (limit === null) return 0
  return limit === 0 ? 1 : Math.min(1, used / limit)
}

/** Whether 80 % or more is used. */
export const isNear = (quota: Quota): boolean => quota.limit !== null && shareOf(quota) >= 0.8

/** Whether the quota caused a rejected request in the last 24 hours. */
export const wasRefused = ({ lastRefusedAt }: Quota): boolean =>
  lastRefusedAt !== null && Date.now() - Date.parse(lastRefusedAt) < 86_400_000
