import { getAgent, cachedEnsureDefaultAgent } from '../agents/agents.ts'
import { UsageError, labelled } from './command.ts'
import type { Arguments, CommandContext, Output } from './command.ts'
import * as endpointQueries from '../connectors/endpoints/queries.ts'
import { registrations } from '../connectors/registrations/registrations.ts'
import { checkBaseUrl, setUpWebhook } from '../connectors/endpoints/webhook-setup.ts'
import type { MadeEndpoint } from '../connectors/endpoints/webhook-setup.ts'
import { actorOfUser } from '../identity/sign-in/user-authority.ts'
import * as workspaceQueries from '../identity/members/workspace-queries.ts'
import { prepareDataDir } from '../platform/postgres/data-dir.ts'
import { openSecrets } from '../platform/encryption/keys.ts'
import { badRequest, conflict, notFound } from '../platform/http/errors.ts'
import { isUuid } from '../platform/ids.ts'
import { createLog } from '../platform/process/log.ts'
import { createOutbound } from '../platform/outbound/outbound.ts'

/** Providers of chats, which require an agent that responds. */
const chats = new Set(['telegram', 'slack', 'discord', 'twilio'])

const findConnection = async ({ db }: CommandContext, id: string, provider: string) => {
  const found = isUuid(id) ? await endpointQueries.findConnectionById(db, id) : undefined
  if (!found) throw notFound('Connection')
  if (found.connectorSlug !== provider) {
    throw badRequest(`The connection belongs to ${found.connectorSlug}, not to ${provider}.`)
  }
  if (found.status !== 'active') throw conflict(`The connection is ${found.status}; it must be active.`)
  return found
}

/** Finds the agent with the permissions of the connection's owner. */
const findAgent = async (
  { config, db }: CommandContext,
  { orgId, userId }: { orgId: string; userId: string },
  workspaceId: string,
  slug: string | undefined,
): Promise<string | null> => {
  const actor = await actorOfUser(db, { orgId, userId, workspaceId, scopes: [] })
  if (!actor) throw notFound('Workspace')
  if (slug === undefined) return null
  await cachedEnsureDefaultAgent(db, config.defaultAgentModel)(actor)
  return (await getAgent(db, actor, slug)).id
}

const instructions: Record<string, string> = {
  slack: 'Paste the URL at api.slack.com/apps under Event Subscriptions (message.im, app_mention) and Slash Commands.',
  discord: 'Paste the URL at discord.com/developers under General Information, Interactions Endpoint URL.',
  jira: 'Create a webhook in Jira (System, WebHooks) with this URL and this secret.',
  gmail:
    'Create a push subscription of the topic with this URL as endpoint and audience, authenticated with the service account.',
  github: 'Create a webhook with this URL and secret and the content type application/json.',
  twilio: 'Enter the URL as POST webhook for incoming messages of a number or a messaging service.',
}

const linesOf = (provider: string, { endpoint, secret, registered, replaced }: MadeEndpoint): string[] => [
  ...labelled([
    ['Endpoint', endpoint.id],
    ['URL', endpoint.url],
    ...(secret === undefined ? [] : ([['Secret', secret]] as [string, string][])),
    ...(replaced === undefined ? [] : ([['Replaced', replaced]] as [string, string][])),
  ]),
  '',
  registered ? `The webhook is registered at ${provider}.` : (instructions[provider] ?? ''),
  ...(secret === undefined ? [] : ['Store the secret now: it is not shown again.']),
]

/** Creates an endpoint and registers it at providers with an API for webhooks. */
export const setupWebhook = async (context: CommandContext, args: Arguments): Promise<Output> => {
  const { config, db, serverUrl } = context
  const { operand: provider, options } = args
  if (chats.has(provider) && options['agent'] === undefined) {
    throw new UsageError(
      `--agent SLUG is required: ${provider} is a chat, which needs an agent that responds`,
      'setup-webhook',
    )
  }
  const isProduction = config.environment === 'production'
  const configured = config.connectorWebhookBaseUrl ?? (isProduction ? undefined : serverUrl)
  const baseUrl = await checkBaseUrl(configured, { isProduction, ports: registrations.get(provider)?.ports })
  const connection = await findConnection(context, options['connection'] ?? '', provider)
  const { orgId } = connection
  const workspaceId = options['workspace'] ?? (await workspaceQueries.findDefaultWorkspace(db, orgId))?.id ?? ''
  if (!isUuid(workspaceId)) throw notFound('Workspace')
  const agentId = await findAgent(context, connection, workspaceId, options['agent'])
  // Without ENCRYPTION_KEYS, the keys are in the data directory.
  await prepareDataDir(config.dataDir)
  const secrets = await openSecrets(db, config)
  const outbound = createOutbound({ allowCidrs: config.outboundAllowCidrs })
  try {
    const deps = { config, db, outbound, secrets, log: createLog('error') }
    const made = await setUpWebhook(deps, {
      provider,
      connection,
      workspaceId,
      agentId,
      baseUrl,
      target: options['repo'] ?? options['number'] ?? options['team'],
      secret: options['secret'],
      publicKey: options['public-key'],
      serviceAccount: options['service-account'],
      replace: options['replace'] === 'true',
    })
    return { json: { ...made }, lines: linesOf(provider, made) }
  } finally {
    await outbound.close()
  }
}
