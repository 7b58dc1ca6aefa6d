import { ProviderError } from '../connections/provider-error.ts'
import { handshakeVersions } from './handshake.ts'
import { name, readErrorBody, readResponse, unavailable } from './responses.ts'
import type { Message } from './responses.ts'
import { askPerson, collectItems, collectTools, featuresOf, serverNameOf } from './session.ts'
import type { Elicited, McpSession, McpTarget } from './session.ts'
import { callHeaders, headerValueOf, toolHeadersOf } from './tool-headers.ts'
import type { ToolHeader } from './tool-headers.ts'
import { failureOf, resultOf, timeoutMs } from './transport.ts'
import type { Transport } from './transport.ts'

const version = '2026-07-28'
const metaPrefix = 'io.modelcontextprotocol/'

/** Error codes of this revision. Other errors mean that the server is older. */
const codes = { headerMismatch: -32_020, missingCapability: -32_021, unsupportedVersion: -32_022 }

/** The field of the parameters that the header Mcp-Name repeats. These methods may ask for input. */
const namedBy: Partial<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

/** How often a server may ask for input during one request, and how much at once. */
const maxRounds = 8
const maxInputRequests = 16
const maxStateLength = 65_536

/** Older servers may not respond to methods that they do not know. */
const discoverTimeoutMs = 10_000

type Json = Record<string, unknown>

const meta = {
  [`${metaPrefix}protocolVersion`]: version,
  [`${metaPrefix}clientInfo`]: { name: 'Atrium', version: '1' },
  [`${metaPrefix}clientCapabilities`]: { elicitation: { form: {} } },
}

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

interface Link {
  transport: Transport
  target: McpTarget
  signal: AbortSignal | undefined
}

interface Call {
  id: number
  method: string
  params: Json
  headers?: Record<string, string>
  /** Ends the request before its usual time limit. */
  until?: AbortSignal
}

/** Sends one request. Returns its response, or the error in the body of another status than 2xx. */
const exchange = async (
  { transport, signal }: Link,
  { id, method, params, headers = {}, until }: Call,
): Promise<{ message: Message | undefined; response: Response }> => {
  const deadlineMs = performance.now() + timeoutMs
  const named = namedBy[method]
  const response = await transport({
    method: 'POST',
    body: { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } },
    headers: {
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(named === undefined ? {} : { 'mcp-name': headerValueOf(String(params[named])) }),
      ...headers,
    },
    ...(until ? { signal: until } : {}),
  })
  if (!response.ok) return { message: await readErrorBody(response), response }
  try {
    // Servers of this revision send no requests, and their streams cannot be resumed.
    const message = await readResponse(response, { id, answer: () => Promise.resolve(), deadlineMs, signal })
    return { message, response }
  } catch (error) {
    if (error instanceof ProviderError || signal?.aborted) throw error
    throw unavailable('did not complete its response', error)
  }
}

const supportedOf = (versions: unknown): unknown[] => (Array.isArray(versions) ? versions : [])

const unsupported = (): ProviderError =>
  new ProviderError(
    'rejected',
    `${name} supports none of the MCP versions ${[version, ...handshakeVersions].join(', ')}.`,
  )

/** The result of `server/discover`, or undefined for a server with a handshake. */
const discover = async (link: Link, isRepeated = false): Promise<Json | undefined> => {
  const until = AbortSignal.timeout(discoverTimeoutMs)
  const asked = await exchange(link, { id: 0, method: 'server/discover', params: {}, until }).catch(
    (error: unknown) => {
      // Older servers may respond with anything, or not at all. A server that cannot be reached fails the handshake, too.
      if (link.signal?.aborted || !(error instanceof ProviderError)) throw error
      return undefined
    },
  )
  if (!asked) return undefined
  const { message, response } = asked
  const { error } = message ?? {}
  const isKnown = Object.values(codes).includes(Number(error?.code))
  if (!response.ok && !isKnown) {
    if ([401, 403, 429].includes(response.status)) throw failureOf(response)
    return undefined
  }
  if (error && !isKnown) return undefined
  if (error && error.code !== codes.unsupportedVersion) resultOf({ error }, link.target.scrub)
  const supported = supportedOf(
    error ? objectOf(error.data)['supported'] : objectOf(message?.result)['supportedVersions'],
  )
  if (!error && supported.includes(version)) return objectOf(message?.result)
  // Behind a load balancer, a server with other versions may have responded.
  if (error && supported.includes(version) && !isRepeated) return discover(link, true)
  if (error && !handshakeVersions.some((one) => supported.includes(one))) throw unsupported()
  return undefined
}

/** The parameters that answer what the server asks for. */
const answersTo = (target: McpTarget, { inputRequests, requestState }: Json): Json => {
  const requests = Object.entries(objectOf(inputRequests))
  if (requests.length > maxInputRequests) throw unavailable(`asked more than ${maxInputRequests} questions at once`)
  const responses = requests.map(([key, request]): [string, Elicited] => {
    const { method, params } = objectOf(request)
    if (method !== 'elicitation/create') {
      throw new ProviderError('rejected', `${name} asked for something else than input of a person.`)
    }
    return [key, askPerson(target, params)]
  })
  // Nothing is sent, so the server does nothing. The call runs again when the person has answered.
  if (responses.some(([, { action }]) => action === 'cancel')) {
    throw new ProviderError('rejected', `${name} asked a question that nobody has answered.`)
  }
  const hasState = typeof requestState === 'string'
  if (hasState && requestState.length > maxStateLength) throw unavailable('sent a state of more than 64 KB')
  if (!hasState && responses.length === 0) throw unavailable('asked for input without a question')
  return {
    ...(responses.length === 0 ? {} : { inputResponses: Object.fromEntries(responses) }),
    ...(hasState ? { requestState } : {}),
  }
}

const createRequest = (link: Link) => {
  let lastId = 0
  const once = async (method: string, params: Json, headers?: Record<string, string>): Promise<Json> => {
    const call = { id: ++lastId, method, params, ...(headers ? { headers } : {}) }
    const { message, response } = await exchange(link, call)
    // The body says more than the status, except who may try again.
    if (!response.ok && (!message || [401, 403, 429].includes(response.status) || response.status >= 500)) {
      throw failureOf(response)
    }
    return resultOf(message ?? {}, link.target.scrub)
  }
  /** Answers what the server asks for until the result is complete. */
  return async (method: string, params: object, headers?: Record<string, string>): Promise<Json> => {
    let answers: Json = {}
    for (let round = 0; round <= maxRounds; round++) {
      const result = await once(method, { ...params, ...answers }, headers)
      const type = result['resultType'] ?? 'complete'
      if (type === 'complete') return result
      if (type !== 'input_required' || namedBy[method] === undefined)
        throw unavailable('sent a result of an unknown type')
      answers = answersTo(link.target, result)
    }
    throw unavailable(`asked for input more than ${maxRounds} times`)
  }
}

/**
 * A server of the revision 2026-07-28, which keeps no sessions: each request carries the version and what we can do.
 * Undefined for a server that only has revisions with a handshake. Throws a ProviderError: `invalid_credentials` when the
 * server does not accept the token, `rejected` when it supports none of our revisions.
 */
export const findStatelessServer = async (
  transport: Transport,
  target: McpTarget,
  signal: AbortSignal | undefined,
): Promise<McpSession | undefined> => {
  const link = { transport, target, signal }
  const discovered = await discover(link)
  if (!discovered) return undefined
  const request = createRequest(link)
  const headersOf = new Map<string, ToolHeader[]>()
  const scrubbed = async (method: string, params: object, headers?: Record<string, string>): Promise<Json> =>
    JSON.parse(target.scrub(JSON.stringify(await request(method, params, headers)))) as Json

  return {
    serverName: serverNameOf(objectOf(discovered['_meta'])[`${metaPrefix}serverInfo`], target),
    features: featuresOf(discovered),
    listTools: async () => {
      const tools = await collectTools((params) => request('tools/list', params))
      return tools.filter((tool) => {
        const headers = toolHeadersOf(tool.inputSchema)
        if (headers) headersOf.set(tool.name, headers)
        return headers !== undefined
      })
    },
    listItems: (method, key, max) => collectItems((params) => scrubbed(method, params), key, max),
    request: scrubbed,
    callTool: (tool, input) => {
      const headers = callHeaders(headersOf.get(tool) ?? [], input)
      return scrubbed('tools/call', { name: tool, arguments: input ?? {} }, headers)
    },
    close: () => Promise.resolve(),
  }
}
