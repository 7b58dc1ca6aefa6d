import { systemActor } from '../../identity/actor.ts'
import { recordEvent } from '../../outbox/record.ts'
import { badRequest, conflict } from '../../platform/http/errors.ts'
import { providerUrl } from '../connections/access.ts'
import type { Access, ConnectionRef, FreshAccess } from '../connections/access.ts'
import { withConnection } from '../connections/calls.ts'
import { createScrubber } from '../connections/scrub.ts'
import { sealSecrets } from '../connections/secrets.ts'
import type { AccessDeps, ProviderDeps } from '../deps.ts'
import { markBroken } from '../oauth/refresh.ts'
import { InputRequired, keyOfForm, readForm } from '../../tool-form.ts'
import type { Form, GivenAnswer } from '../../tool-form.ts'
import { openSession } from './client.ts'
import type { Elicited, McpSession } from './session.ts'
import { McpChallenge } from './transport.ts'
import { plainTextOf, textContentOf } from './content.ts'
import type { FeatureTool } from './features.ts'
import { authorizationOf, secretsOf, withScope } from './oauth/authorization.ts'
import { pinTools } from './pinned-tools.ts'
import type { PinnedTools } from './pinned-tools.ts'
import * as queries from './queries.ts'
import { unavailable } from './responses.ts'

/** Answers a question of the server at `host` to the person. */
type Elicit = (params: unknown, host: string) => Elicited

/** Opens a session with the server of a connection, and closes it after `work`. */
const withSession = async <T>(
  deps: ProviderDeps,
  access: Access,
  { signal, elicit }: { signal?: AbortSignal; elicit?: Elicit },
  work: (session: McpSession) => Promise<T>,
): Promise<T> => {
  const { orgId, connector, secrets } = access
  const to = providerUrl(deps, connector, secrets['url'] ?? '')
  const token = secrets['token'] ?? secrets['accessToken']
  const target = {
    ...to,
    token,
    scrub: createScrubber(access),
    orgId,
    ...(elicit && { elicit: (params: unknown) => elicit(params, to.url.host) }),
  }
  const session = await openSession(deps.outbound, target, signal)
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}

/** Of all requests together: a slow server has many pages, each of which has 30 s. */
const inspectionMs = 60_000

/**
 * The name and the tools of a server, requested with credentials that are not stored yet. SERVICE_UNAVAILABLE when the
 * server needs more than a minute.
 */
export const inspectServer = async (
  deps: ProviderDeps,
  access: Access,
  signal = AbortSignal.timeout(inspectionMs),
): Promise<{ serverName: string; tools: PinnedTools }> => {
  try {
    return await withSession(deps, access, { signal }, async (session) => ({
      serverName: session.serverName,
      tools: pinTools(await session.listTools(), session.features),
    }))
  } catch (error) {
    throw signal.aborted ? unavailable('did not list its tools in time', error) : error
  }
}

/** The output of a tool, and its pictures with their places in `content`. */
export interface McpResult {
  output: { content: unknown[] }
  pictures: { place: number; bytes: Buffer }[]
}

const contentOf = (result: Record<string, unknown>): unknown[] =>
  Array.isArray(result['content']) ? result['content'] : []

const picturesOf = (result: Record<string, unknown>): McpResult['pictures'] =>
  contentOf(result).flatMap((part, place) => {
    const { type, data } = (part ?? {}) as { type?: unknown; data?: unknown }
    return type === 'image' && typeof data === 'string' ? [{ place, bytes: Buffer.from(data, 'base64') }] : []
  })

const toToolOutput = (result: Record<string, unknown>): McpResult['output'] => {
  const content = contentOf(result)
  return {
    content: content.map(textContentOf),
    ...(result['structuredContent'] === undefined ? {} : { structuredContent: result['structuredContent'] }),
  }
}

/** Marks the connection as broken, unless other tools have been accepted in the meantime. */
const breakConnection = (
  { db }: AccessDeps,
  { ref, connector }: FreshAccess,
  tools: { pinnedHash: string; offered: string; reason: string },
): Promise<void> =>
  db.transaction(ref, async (db) => {
    const broken = await queries.requireAcceptance(db, ref, tools)
    if (!broken) return
    await recordEvent(db, systemActor(ref.orgId, 'Atrium'), 'connection.broken', {
      subjectId: ref.id,
      workspaceId: null,
      ownerId: broken.userId,
      data: { connectionId: ref.id, connector: connector.slug, reason: 'tools' },
    })
  })

/** The names of a scope that cannot be read as words of ours. */
const listOf = (scope: string): string => {
  const names = scope.split(' ').filter((name) => /^[\w:./-]{1,64}$/.test(name))
  return names.length === 0 ? '' : `: “${names.slice(0, 5).join('”, “')}”`
}

/**
 * A server that asks for a scope during a call gets it only from the user: the connection is broken until the user has
 * signed in with it. A scope that was asked for before does not break the connection, because asking again would not help.
 */
const requireScope = async (deps: AccessDeps, access: FreshAccess, error: McpChallenge): Promise<void> => {
  const { error: code, scope } = error.challenge
  const authorization = authorizationOf(access.secrets)
  if (error.responseStatus !== 403 || code !== 'insufficient_scope' || scope === undefined || !authorization) return
  const wider = withScope(authorization, scope)
  if (!wider) return
  const secrets = sealSecrets(deps.secrets, access.ref, { ...access.secrets, ...secretsOf(wider) })
  const reason = `This MCP server asks for more permissions${listOf(scope)}. Sign in again to give them.`
  await markBroken(deps, access, reason, secrets)
  throw conflict(reason)
}

interface Use {
  pinnedHash: string
  signal: AbortSignal
  elicit?: Elicit
}

/**
 * Works with a connection's server if the server still lists the accepted tools. Otherwise the connection is broken
 * until the user accepts the new ones, because a changed description can make a model do anything (tool poisoning).
 */
const withPinnedServer = <Result>(
  deps: AccessDeps,
  ref: ConnectionRef,
  { pinnedHash, ...options }: Use,
  work: (session: McpSession) => Promise<Result>,
): Promise<Result> =>
  withConnection(deps, ref, (access) =>
    withSession(deps, access, options, async (session) => {
      const offered = pinTools(await session.listTools(), session.features)
      if (offered.hash !== pinnedHash) {
        const reason = 'The tools of this MCP server have changed. Review and accept them.'
        await breakConnection(deps, access, { pinnedHash, offered: JSON.stringify(offered), reason })
        throw conflict(reason)
      }
      return work(session)
    }).catch(async (error: unknown) => {
      if (error instanceof McpChallenge) await requireScope(deps, access, error)
      throw error
    }),
  )

/** Answers the questions of one call with what the person has answered before, and notes the first new one. */
const elicitationOf = (name: string, answers: readonly GivenAnswer[] | undefined) => {
  const asked: { form?: Form } = {}
  // The name is the server's own claim, so the person sees the host, and sees it first.
  const elicit: Elicit = (params, host) => {
    const { message, requestedSchema, mode = 'form' } = (params ?? {}) as Record<string, unknown>
    const form = mode === 'form' ? readForm(`${host} (“${name}”)`, message, requestedSchema) : undefined
    if (!form || !answers) return { action: 'decline' }
    const given = answers.find(({ key }) => key === keyOfForm(form))
    if (given) return { action: 'accept', content: given.answer }
    asked.form ??= form
    return { action: 'cancel' }
  }
  return { asked, elicit }
}

export interface McpCall extends Use {
  tool: string
  input: unknown
  /** The name of the server, for questions to the person. */
  server: string
  /** Answers to questions of earlier runs. Undefined when nobody can be asked. */
  answers: readonly GivenAnswer[] | undefined
}

/**
 * Calls a tool of a connection's server. A server that asks the person during the call is told that the question is
 * cancelled, and `InputRequired` is thrown: people take longer than a connection lasts. The next run answers it.
 */
export const callMcpTool = (
  deps: AccessDeps,
  ref: ConnectionRef,
  { tool, input, server, answers, ...use }: McpCall,
): Promise<McpResult> => {
  const { asked, elicit } = elicitationOf(server, answers)
  return withPinnedServer(deps, ref, { ...use, elicit }, async (session) => {
    const result = (await session.callTool(tool, input)) as Record<string, unknown>
    if (asked.form) throw new InputRequired(asked.form)
    if (result['isError'] === true) throw badRequest(plainTextOf(result) || 'The tool failed.')
    return { output: toToolOutput(result), pictures: picturesOf(result) }
  }).catch((error: unknown) => {
    throw asked.form ? new InputRequired(asked.form) : error
  })
}

/** Runs a tool for the resources or prompts of a connection's server. */
export const runFeatureTool = (
  deps: AccessDeps,
  ref: ConnectionRef,
  { tool, input, ...use }: Use & { tool: FeatureTool; input: Readonly<Record<string, unknown>> },
): Promise<unknown> => withPinnedServer(deps, ref, use, (session) => tool.run(session, input))
