import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
// How each provider signs events, as shell commands where a shell can create the signature.

export interface Source {
  slug: string
  name: Text
  /** The provider generates the secret, and the person enters it here. */
  providesSecret: boolean
}

export const sources: Source[] = [
  { slug: 'custom', name: msg`Custom (Standard Webhooks)`, providesSecret: false },
  { slug: 'github', name: 'GitHub', providesSecret: false },
  { slug: 'gitlab', name: 'GitLab', providesSecret: true },
  { slug: 'stripe', name: 'Stripe', providesSecret: true },
  { slug: 'slack', name: 'Slack', providesSecret: true },
  { slug: 'discord', name: 'Discord', providesSecret: true },
  { slug: 'linear', name: 'Linear', providesSecret: true },
  { slug: 'jira', name: 'Jira', providesSecret: false },
  { slug: 'shopify', name: 'Shopify', providesSecret: true },
  { slug: 'telegram', name: 'Telegram', providesSecret: false },
  { slug: 'twilio', name: 'Twilio', providesSecret: true },
  { slug: 'hmac', name: msg`HMAC signature (X-Signature-256)`, providesSecret: false },
  { slug: 'token', name: msg`Header token (X-Webhook-Token)`, providesSecret: false },
]

export const sourceName = (slug: string): string => textOf(sources.find((source) => source.slug === slug)?.name ?? slug)

interface Signing {
  /** Commands before curl. */
  prepare: string[]
  headers: string[]
  body: string
}

const body = '{"type":"test.ping","hello":"world"}'
const hexOf = (text: string): string =>
  `SIGNATURE=$(printf '%s' "${text}" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/^.* //')`
const base64Of = (text: string): string =>
  `SIGNATURE=$(printf '%s' "${text}" | openssl dgst -sha256 -hmac "$SECRET" -binary | base64)`
const bodyHex = (header: string): Signing => ({ prepare: [hexOf('$BODY')], headers: [header], body })
const inHeader = (name: string): Signing => ({ prepare: [], headers: [`${name}: $SECRET`], body })

const standard: Signing = {
  prepare: [
    'ID=test_$(date +%s)',
    'TIME=$(date +%s)',
    `KEY=$(printf '%s' "\${SECRET#whsec_}" | base64 -d | od -An -tx1 | tr -d ' \\n')`,
    `SIGNATURE=$(printf '%s' "$ID.$TIME.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64)`,
  ],
  headers: ['webhook-id: $ID', 'webhook-timestamp: $TIME', 'webhook-signature: v1,$SIGNATURE'],
  body,
}

const native: Record<string, Signing | undefined> = {
  github: {
    ...bodyHex('X-Hub-Signature-256: sha256=$SIGNATURE'),
    headers: ['X-Hub-Signature-256: sha256=$SIGNATURE', 'X-GitHub-Event: ping', 'X-GitHub-Delivery: test-$(date +%s)'],
  },
  jira: bodyHex('X-Hub-Signature: sha256=$SIGNATURE'),
  hmac: bodyHex('X-Signature-256: sha256=$SIGNATURE'),
  gitlab: inHeader('X-Gitlab-Token'),
  telegram: { ...inHeader('X-Telegram-Bot-Api-Secret-Token'), body: '{"update_id":1,"message":{"text":"Hello"}}' },
  token: inHeader('X-Webhook-Token'),
  stripe: {
    prepare: ['TIME=$(date +%s)', hexOf('$TIME.$BODY')],
    headers: ['Stripe-Signature: t=$TIME,v1=$SIGNATURE'],
    body: '{"id":"evt_test","type":"test.ping"}',
  },
  slack: {
    prepare: ['TIME=$(date +%s)', hexOf('v0:$TIME:$BODY')],
    headers: ['X-Slack-Request-Timestamp: $TIME', 'X-Slack-Signature: v0=$SIGNATURE'],
    body: '{"type":"event_callback","event_id":"EvTest","event":{"type":"test"}}',
  },
  shopify: { prepare: [base64Of('$BODY')], headers: ['X-Shopify-Hmac-SHA256: $SIGNATURE'], body },
}

const unsigned = new Set(['discord', 'twilio', 'linear'])

/**
 * Shell commands that send a signed test event; undefined for sources whose signature a shell cannot create. Without
 * `secret` they contain a placeholder.
 */
export const signedCurl = (webhook: { source: string; receiveUrl: string }, secret?: string): string | undefined => {
  const source = webhook.source.toLowerCase()
  if (unsigned.has(source)) return undefined
  const { prepare, headers, body: sent } = native[source] ?? standard
  return [
    `SECRET='${secret ?? t`your signing secret`}'`,
    `BODY='${sent}'`,
    ...prepare,
    `curl -X POST '${webhook.receiveUrl}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    ...headers.map((header) => `  -H "${header}" \\`),
    `  --data-raw "$BODY"`,
  ].join('\n')
}
