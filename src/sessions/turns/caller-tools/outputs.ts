import type { Actor } from '../../../identity/actor.ts'
import { badRequest, conflict, forbidden, notFound } from '../../../platform/http/errors.ts'
import { cleanJson } from '../../../platform/text/text.ts'
import * as queries from '../../queries.ts'
import { digestOfJson } from '../../../platform/text/digest.ts'
import type { StreamPart } from '../../streams/stream-parts.ts'
import * as callQueries from '../call-queries.ts'
import type { CallRow } from '../call-queries.ts'
import { continueTurn } from '../continue-turn.ts'
import type { TurnDeps } from '../deps.ts'
import * as turnQueries from '../queries.ts'
import type { TurnRow } from '../queries.ts'
import { getTurnRow } from '../turns.ts'
import { awaitsOutput, isOfCaller } from './caller-tools.ts'
import type { CallerTools } from './schemas.ts'
import type { ToolOutput } from './schemas.ts'

const maxOutputBytes = 262_144
const maxOutputsBytes = 1_048_576
/** All outputs of a turn are in its reply, and in memory while it runs. */
const maxTurnBytes = 4_194_304

interface GivenOutput {
  callId: string
  status: 'done' | 'failed'
  output: unknown
}

/** Outputs as they are stored. A failed call has the text of its error, like a failed tool of the server. */
const readOutputs = (outputs: readonly ToolOutput[]): GivenOutput[] => {
  let bytes = 0
  return outputs.map(({ callId, output: given, isError = false }) => {
    const output = cleanJson(given ?? null)
    const json = JSON.stringify(output)
    const size = Buffer.byteLength(json)
    bytes += size
    if (size > maxOutputBytes) {
      throw badRequest(`The output of the call ${callId} must have at most ${maxOutputBytes} bytes as JSON`)
    }
    if (bytes > maxOutputsBytes) throw badRequest(`outputs must have at most ${maxOutputsBytes} bytes as JSON together`)
    return isError
      ? { callId, status: 'failed', output: { error: typeof output === 'string' ? output : json } }
      : { callId, status: 'done', output }
  })
}

/** Applies outputs to the calls in memory and returns the calls that have a new one. Throws like `giveToolOutputs`. */
const applyOutputs = (turn: TurnRow, calls: CallRow[], outputs: readonly GivenOutput[]): CallRow[] =>
  outputs.flatMap(({ callId, status, output }) => {
    const call = calls.find((one) => one.callId === callId)
    if (!call) throw notFound('Tool call')
    if (call.status === 'done' || call.status === 'failed') {
      const isSame = call.status === status && digestOfJson(call.output) === digestOfJson(output)
      if (isSame) return []
      throw conflict(`The call ${callId} already has another output.`)
    }
    if (turn.status !== 'requires_action' || call.status !== 'started') {
      throw conflict(`The turn does not wait for the output of the call ${callId}.`)
    }
    call.status = status
    call.output = output
    return [call]
  })

const streamPartOf = ({ callId: toolCallId, status, output }: CallRow): StreamPart =>
  status === 'done'
    ? { type: 'tool-output-available', toolCallId, output, dynamic: true }
    : { type: 'tool-output-error', toolCallId, errorText: (output as { error: string }).error, dynamic: true }

interface GivenOutputs {
  turnId: string
  outputs: readonly ToolOutput[]
  /** The tools from now on, for protocols whose requests repeat them. Default: those of the turn. */
  callerTools?: CallerTools | undefined
}

/**
 * Stores what the caller's tools returned: all outputs or, when one is rejected, none. After the last output the turn
 * continues. FORBIDDEN for everyone but the person of the turn, whose tools they are. NOT_FOUND for an unknown call,
 * CONFLICT for a call that has another output or for which the turn does not wait. The outputs count as untrusted content.
 * Returns false when all of them were given before.
 */
export const giveToolOutputs = async (
  deps: TurnDeps,
  actor: Actor,
  { turnId, outputs, callerTools }: GivenOutputs,
): Promise<boolean> => {
  const { db } = deps
  const { orgId } = actor
  const given = readOutputs(outputs)
  const found = await getTurnRow(db.hot, actor, turnId)
  if (found.userId !== actor.userId) {
    throw forbidden('Only the person for whom the turn runs can give outputs of their tools.')
  }
  return db.transaction(actor, async (db) => {
    const session = await queries.lockSession(db, orgId, found.sessionId)
    const turn = session && (await turnQueries.lockTurn(db, orgId, turnId))
    if (!turn) throw notFound('Turn')
    const all = await callQueries.listCalls(db, orgId, turnId)
    const calls = all.filter((call) => isOfCaller(turn.clientTools, call))
    const changed = applyOutputs(turn, calls, given)
    const [first] = changed
    if (!first) return false
    if (Buffer.byteLength(JSON.stringify(calls.map(({ output }) => output))) > maxTurnBytes) {
      throw badRequest(`outputs of all calls of a turn must have at most ${maxTurnBytes} bytes as JSON`)
    }
    await callQueries.endCallerCalls(db, orgId, turnId, changed)
    const isReady = !calls.some((call) => awaitsOutput(turn.clientTools, call))
    await continueTurn(db, deps, orgId, {
      turn,
      parts: changed.map(streamPartOf),
      isReady,
      untrustedFrom: first.toolName,
      isCallers: true,
      callerTools: callerTools && { ...callerTools, fromStep: first.step + 1 },
    })
    return true
  })
}
