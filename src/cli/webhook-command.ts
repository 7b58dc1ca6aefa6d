import { UsageError } from './command.ts'
import type { Command } from './command.ts'

const providers = ['telegram', 'slack', 'discord', 'twilio', 'gmail', 'github', 'linear', 'jira', 'stripe']

export const setupWebhookCommand: Command = {
  words: 'setup-webhook',
  summary: "Receive a provider's events and let an agent respond to them",
  operand: 'PROVIDER',
  options: {
    connection: { value: 'ID', description: 'the connection to use', required: true },
    agent: { value: 'SLUG', description: 'the agent that responds; without one, events are only recorded' },
    workspace: { value: 'ID', description: "the workspace of the sessions; default: the org's default workspace" },
    repo: { value: 'OWNER/NAME', description: 'github: the repository of the webhook' },
    number: { value: '+14155550100', description: 'twilio: the phone number of the webhook' },
    team: { value: 'ID', description: 'linear: the team; default: all public teams' },
    secret: { value: 'TEXT', description: 'the secret that the provider issued, such as the signing secret of Slack' },
    'public-key': { value: 'HEX', description: 'discord: the public key of the application' },
    'service-account': { value: 'EMAIL', description: 'gmail: the service account of the Pub/Sub push subscription' },
    replace: { value: '', description: 'replace an existing webhook' },
  },
  details: `PROVIDER is one of ${providers.join(', ')}. The webhook is registered by API at Telegram, GitHub (--repo), Linear, Stripe and Twilio (--number); for the others, the output says where to paste its URL. In production, CONNECTOR_WEBHOOK_BASE_URL must be a public https URL.`,
  needs: 'database',
  run: async (context, args) => {
    if (!providers.includes(args.operand)) {
      throw new UsageError(`PROVIDER must be one of ${providers.join(', ')}`, 'setup-webhook')
    }
    // Loads agents and connectors, which no other command needs.
    const { setupWebhook } = await import('./setup-webhook.ts')
    return setupWebhook(context, args)
  },
}
