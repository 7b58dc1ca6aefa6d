import { getAgent, cachedEnsureDefaultAgent } from '../agents/agents.ts'
import { webhookProviders as providers } from './connectors.ts'
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

/** Those in which people talk to the agent: without one nobody would answer. */
const chats = new Set(['telegram', 'slack', 'discord', 'twilio'])

const findConnection = async ({ db }: CommandContext, id: string, provider: string) => {
  const found = isUuid(id) ? await endpointQueries.findConnectionById(db, id) : undefined
  if (!found) throw notFound('Connection')
  if (found.connectorSlug !== provider) {
    throw badRequest(`The connection is one to ${found.connectorSlug}, not to ${provider}.`)
  }
  if (found.status !== 'active') throw conflict(`The connection is ${found.status}: it has to be active.`)
  return found
}

/** The agent in the eyes of the connection's owner, who must be able to use it. */
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

const toPaste: Record<string, string> = {
  slack:
    'Paste the URL at api.slack.com/apps: Event Subscriptions (message.im, app_mention), and as the URL of commands.',
  discord: 'Paste the URL at discord.com/developers: General Information, Interactions Endpoint URL.',
  jira: 'Make a webhook in Jira (System, WebHooks) with this URL and this secret.',
  gmail:
    'Make a push subscription of the topic with this URL as endpoint and as audience, authenticated as the service account.',
  github: 'Make a webhook with this URL and secret, content type application/json.',
  twilio: 'Enter the URL for incoming messages of a number or of a messaging service, as POST.',
}

const linesOf = (provider: string, { endpoint, secret, registered, replaced }: MadeEndpoint): string[] => [
  ...labelled([
    ['Endpoint', endpoint.id],
    ['URL', endpoint.url],
    ...(secret === undefined ? [] : ([['Secret', secret]] as [string, string][])),
    ...(replaced === undefined ? [] : ([['Replaced', replaced]] as [string, string][])),
  ]),
  '',
  registered ? `It is registered at ${provider}, which sends its events there from now on.` : (toPaste[provider] ?? ''),
  ...(secret === undefined ? [] : ['The secret is shown only now.']),
]

/** Makes an endpoint, and registers it where the provider can be told by API. */
export const setupWebhook = async (context: CommandContext, args: Arguments): Promise<Output> => {
  const { config, db, serverUrl } = context
  const { operand: provider, options } = args
  if (!providers.includes(provider)) {
    throw new UsageError(`PROVIDER must be one of ${providers.join(', ')}`, 'setup-webhook')
  }
  if (chats.has(provider) && options['agent'] === undefined) {
    throw new UsageError(`--agent SLUG is missing: who is to answer in ${provider}`, 'setup-webhook')
  }
  const isProduction = config.environment === 'production'
  const configured = config.connectorWebhookBaseUrl ?? (isProduction ? undefined : serverUrl)
  const baseUrl = await checkBaseUrl(configured, { isProduction, ports: registrations.get(provider)?.ports })
  const connection = await findConnection(context, options['connection'] ?? '', provider)
  const { orgId } = connection
  const workspaceId = options['workspace'] ?? (await workspaceQueries.findDefaultWorkspace(db, orgId))?.id ?? ''
  if (!isUuid(workspaceId)) throw notFound('Workspace')
  const agentId = await findAgent(context, connection, workspaceId, options['agent'])
  // Without ENCRYPTION_KEYS they are kept there.
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
