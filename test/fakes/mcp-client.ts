// Uses the client of the connector `mcp`: opens a session with a server, signs in when the server asks for it, and lists and
// calls everything that the server declares. The conformance suite asks for it once per scenario.
import { createHash, randomBytes } from 'node:crypto'
import { catalog } from '../../src/connectors/catalog/catalog.ts'
import { openSession } from '../../src/connectors/mcp/client.ts'
import type { Elicited } from '../../src/connectors/mcp/session.ts'
import { McpChallenge } from '../../src/connectors/mcp/transport.ts'
import { readAnswer, readForm } from '../../src/tool-form.ts'
import { authorizeUrlOf, checkIssuer, withScope } from '../../src/connectors/mcp/oauth/authorization.ts'
import type { McpAuthorization } from '../../src/connectors/mcp/oauth/authorization.ts'
import { prepareSignIn } from '../../src/connectors/mcp/oauth/sign-in.ts'
import { exchangeCode } from '../../src/connectors/oauth/client.ts'
import { createOutbound } from '../../src/platform/outbound/outbound.ts'
import { parseCidr } from '../../src/platform/outbound/public-addresses.ts'

const orgId = 'suite'
const loopback = ['127.0.0.0/8', '::1/128'].flatMap((range) => parseCidr(range) ?? [])
const connector = catalog.get('mcp')
if (!connector) throw new Error('The catalog has no connector for MCP servers.')

/** What the suite tells the client about a scenario. */
export interface Scenario {
  client_id?: string
  client_secret?: string
  /** Calls that a scenario wants instead. */
  toolCalls?: { name: string; arguments: object }[]
}

/** The suite accepts only this document as the ID of a client. */
const documentUrl = 'https://conformance-test.local/client-metadata.json'
const redirectUri = 'http://localhost:3000/callback'

type Deps = Parameters<typeof exchangeCode>[0]

/** The browser of the suite: its authorization servers consent at once. */
const signIn = async (deps: Deps, to: McpAuthorization): Promise<string> => {
  const state = randomBytes(32).toString('base64url')
  const verifier = randomBytes(48).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const response = await fetch(authorizeUrlOf(to, { state, challenge, redirectUri }), { redirect: 'manual' })
  const { searchParams } = new URL(response.headers.get('location') ?? '')
  if (searchParams.get('state') !== state) throw new Error('another state')
  checkIssuer(to, searchParams.get('iss') ?? undefined)
  const code = searchParams.get('code') ?? ''
  const grant = await exchangeCode(deps, connector, { orgId, code, verifier, redirectUri, authorization: to })
  return grant.secrets['accessToken'] ?? ''
}

const useServer = async (
  { outbound }: Deps,
  url: string,
  { toolCalls }: Scenario,
  token: string | undefined,
): Promise<void> => {
  // A person who accepts every form as it is.
  const elicit = (params: unknown): Elicited => {
    const { message, requestedSchema } = params as Record<string, unknown>
    const form = readForm('suite', message, requestedSchema)
    return form ? { action: 'accept', content: readAnswer(form, {}) } : { action: 'decline' }
  }
  const target = { url: new URL(url), token, scrub: (text: string) => text, trusted: false, orgId, elicit }
  const session = await openSession(outbound, target, AbortSignal.timeout(100_000))
  const tools = await session.listTools()
  for (const call of toolCalls ?? []) await session.callTool(call.name, call.arguments)
  for (const { name, inputSchema } of toolCalls ? [] : tools) {
    const { properties = {} } = inputSchema as { properties?: Record<string, { type?: unknown }> }
    const input = Object.entries(properties).map(([key, { type }]) => [
      key,
      // One scenario asks for the schema of its other tool as it was received.
      type === 'number' ? 5 : type === 'object' ? tools[0]?.inputSchema : 'text',
    ])
    await session.callTool(name, Object.fromEntries(input))
  }
  await session.close()
}

/** Runs a scenario with a client of its own, which shares nothing with the clients of others. */
export const runScenario = async (url: string, scenario: Scenario): Promise<void> => {
  const outbound = createOutbound({ allowCidrs: loopback })
  const deps: Deps = { config: { connectors: new Map() }, outbound }
  let token: string | undefined
  let authorization: McpAuthorization | undefined
  let signIns = 0

  /** What a user does who is asked to sign in, or to sign in again for more permissions. */
  const consent = async ({ responseStatus, challenge }: McpChallenge): Promise<boolean> => {
    if (responseStatus === 401) {
      // A token that is not accepted any more: the user enters the URL again, which discovers everything again.
      if (++signIns > 3) return false
      const client = {
        placeOf: () => ({ documentUrl, redirectUri, redirectPath: '/callback' }),
        clientId: scenario.client_id,
        clientSecret: scenario.client_secret,
      }
      authorization = await prepareSignIn(deps, { orgId, connector, url, challenge, client })
    } else {
      const wider = authorization && withScope(authorization, challenge.scope ?? '')
      if (responseStatus !== 403 || challenge.error !== 'insufficient_scope' || !wider) return false
      authorization = wider
    }
    token = await signIn(deps, authorization)
    return true
  }

  try {
    for (;;) {
      try {
        await useServer(deps, url, scenario, token)
        return
      } catch (error) {
        if (!(error instanceof McpChallenge) || !(await consent(error))) throw error
      }
    }
  } finally {
    await outbound.close()
  }
}
