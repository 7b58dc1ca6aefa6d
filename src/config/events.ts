import { integer, Mistake, origin, text } from './values.ts'
import type { Parse, ParsedOf, Variable } from './values.ts'
import { parseCidr } from '../platform/outbound/public-addresses.ts'
import type { Cidr } from '../platform/outbound/public-addresses.ts'

const cidrs: Parse<Cidr[]> = (value) => {
  const ranges = value.split(',').map((text) => parseCidr(text.trim()))
  return ranges.every((range) => range !== undefined)
    ? ranges
    : new Mistake('must be address ranges separated by commas, such as 10.0.0.0/8,fd00::/8')
}

const retrySchedule: Parse<number[]> = (value) => {
  const steps = value.split(',').map((text) => text.trim())
  return steps.length <= 20 && steps.every((text) => /^\d{1,6}$/.test(text))
    ? steps.map(Number)
    : new Mistake('must be up to 20 whole numbers of seconds separated by commas, such as 5,300,1800')
}

/** Events from providers, and requests to URLs of users. */
export const eventVariables = {
  CONNECTOR_WEBHOOK_BASE_URL: {
    description:
      'Origin of the URLs to which providers send their events. Must be public and https in production. Unset: `BASE_URL`.',
    fallback: '',
    parse: origin,
  },
  OUTBOUND_ALLOW_CIDRS: {
    description:
      'Comma-separated address ranges, such as `10.0.0.0/8`, that URLs of users may lead to although they are not public, on every port. For intranets and tests. Every user who can name a URL can reach the servers in these ranges.',
    fallback: '',
    parse: cidrs,
  },
  WEBHOOK_RETRY_SCHEDULE_SECONDS: {
    description:
      'Comma-separated delays in seconds before each retry of a forwarded event, ±10 %. The delivery fails after the last one.',
    fallback: '5,300,1800,7200,18000,36000,36000',
    parse: retrySchedule,
  },
  WEBHOOK_RETENTION_DAYS: {
    description: 'Days until received events and their deliveries are deleted.',
    fallback: '30',
    parse: integer(2, 3_650),
  },
  LINEAR_WEBHOOK_SECRET: {
    description:
      'Signing secret of the Linear webhook with the URL `/api/v1/webhooks/linear`. Unset: that route responds with 503.',
    fallback: '',
    parse: text,
    secret: true,
  },
} as const satisfies Record<string, Variable>

export interface EventConfig {
  /** The origin to which providers send their events; undefined: `baseUrl`. */
  connectorWebhookBaseUrl: string | undefined
  /** Ranges that URLs of users may lead to although they are not public. */
  outboundAllowCidrs: Cidr[]
  /** Seconds before each retry of a forwarded event. */
  webhookRetrySchedule: number[]
  webhookRetentionDays: number
  /** The signing secret of the Linear application's webhook. */
  linearWebhookSecret: string | undefined
}

export const eventConfigOf = (parsed: ParsedOf<typeof eventVariables>): EventConfig => ({
  connectorWebhookBaseUrl: parsed.CONNECTOR_WEBHOOK_BASE_URL,
  outboundAllowCidrs: parsed.OUTBOUND_ALLOW_CIDRS ?? [],
  webhookRetrySchedule: parsed.WEBHOOK_RETRY_SCHEDULE_SECONDS,
  webhookRetentionDays: parsed.WEBHOOK_RETENTION_DAYS,
  linearWebhookSecret: parsed.LINEAR_WEBHOOK_SECRET,
})
