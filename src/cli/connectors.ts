import type { Command } from './command.ts'

/** Whose webhooks `atrium setup-webhook` sets up. */
export const webhookProviders = [
  'telegram',
  'slack',
  'discord',
  'twilio',
  'gmail',
  'github',
  'linear',
  'jira',
  'stripe',
]

export const setupWebhookCommand: Command = {
  words: 'setup-webhook',
  summary: "Let a provider's events in, and an agent answer them",
  operand: 'PROVIDER',
  options: {
    connection: { value: 'ID', description: 'the connection in whose name it is done', required: true },
    agent: { value: 'SLUG', description: 'who answers; without one, events are only recorded' },
    workspace: { value: 'ID', description: "the workspace of its sessions; the org's default one when left out" },
    repo: { value: 'OWNER/NAME', description: 'github: the repository to register at' },
    number: { value: '+14155550100', description: 'twilio: the number to register at' },
    team: { value: 'ID', description: 'linear: the team; all public ones when left out' },
    secret: { value: 'TEXT', description: 'what the provider issued: the signing secret of Slack' },
    'public-key': { value: 'HEX', description: 'discord: the public key of the application' },
    'service-account': { value: 'EMAIL', description: 'gmail: the account that Pub/Sub pushes as' },
    replace: { value: '', description: 'take the place of the webhook that is there' },
  },
  details: `PROVIDER is one of ${webhookProviders.join(', ')}. Telegram, GitHub (--repo), Linear, Stripe and Twilio (--number) are told by API; for the others it prints what to paste. In production CONNECTOR_WEBHOOK_BASE_URL must be a public https URL.`,
  needs: 'database',
  // What it needs is more than all other commands need together.
  run: async (...given) => (await import('./setup-webhook.ts')).setupWebhook(...given),
}
