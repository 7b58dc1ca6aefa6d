import type { Log } from '../../platform/process/log.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import { ModelFailure } from './model-client.ts'

/** Consecutive failures after which no requests are sent for a while. More than one turn makes without a success. */
const maxFailures = 5
/** An outage fails the requests of several orgs, unless there is only one. */
const minOrgs = 2
const pauseMs = 10_000
/** Orgs with failures, of each provider. */
const maxOrgs = 10_000
/** While one request finds out whether the provider works again. */
const probeWaitMs = 1_000

type State = 'closed' | 'half-open' | 'open'
const gaugeValues: Record<State, number> = { closed: 0, 'half-open': 0.5, open: 1 }

interface Circuit {
  failures: number
  /** The orgs of these failures. */
  orgIds: Set<string>
  /** When requests are sent again. Undefined while the circuit is closed. */
  openUntilMs: number | undefined
  isProbing: boolean
}

/** Who sends a request to which provider. */
export interface CircuitKey {
  provider: string
  orgId: string
}

/**
 * Stops sending requests to providers that fail, separately for each provider and process. Requests of one org can fail
 * at a provider that works for others, so failures of one org stop only its own requests.
 */
export interface Circuits {
  /**
   * Sends a request, whose promise settles with the head of the response. Throws a ModelFailure without sending it when
   * the circuit of the provider, or that of the org at the provider, is open.
   */
  guard<T>(key: CircuitKey, send: () => Promise<T>): Promise<T>
  /** 0 for closed, 0.5 for half-open, 1 for open, by provider: the highest of its circuits. */
  states(): Map<string, number>
}

/**
 * Whether the provider itself failed: it cannot be reached, sends no response in time, or responds with 5xx. Every other
 * response shows that it works. A request that a tenant got wrong (4xx), a rate limit, and an error of the client's own
 * are not failures of the provider: one tenant could otherwise stop the requests of all others.
 */
const isProviderFailure = (error: unknown): boolean => {
  if (error instanceof OutboundError) return true
  if (error instanceof ModelFailure) return error.code === 'silent'
  const { name, statusCode, cause } = (error ?? {}) as { name?: string; statusCode?: number; cause?: unknown }
  if (statusCode !== undefined) return statusCode >= 500
  // The clients throw this for a request without a response.
  return name === 'AI_APICallError' && cause !== undefined
}

const isResponse = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'statusCode' in error && error.statusCode !== undefined

const closed = (): Circuit => ({ failures: 0, orgIds: new Set(), openUntilMs: undefined, isProbing: false })

export const createCircuits = (
  providers: readonly { name: string }[],
  log: Pick<Log, 'warn' | 'info'>,
  now: () => number = () => performance.now(),
): Circuits => {
  const circuits = new Map(
    providers.map(({ name }) => [name, { shared: closed(), ofOrgs: new Map<string, Circuit>() }]),
  )

  const stateOf = ({ openUntilMs }: Circuit): State => {
    if (openUntilMs === undefined) return 'closed'
    return now() < openUntilMs ? 'open' : 'half-open'
  }
  const check = (circuit: Circuit): void => {
    const state = stateOf(circuit)
    if (state === 'closed' || (state === 'half-open' && !circuit.isProbing)) return
    const message = "The model's provider failed several times, so it gets no requests for a few seconds."
    const retryAfterMs = state === 'open' ? (circuit.openUntilMs as number) - now() : probeWaitMs
    throw new ModelFailure('unavailable', message, { retryAfterMs })
  }
  const fail = (circuit: Circuit, { provider, orgId }: CircuitKey, neededOrgs: number): void => {
    circuit.failures += 1
    circuit.orgIds.add(orgId)
    // Requests that were sent before the circuit opened do not prolong the pause.
    const isOpen = circuit.openUntilMs !== undefined
    if (isOpen && (stateOf(circuit) === 'open' || !circuit.isProbing)) return
    if (!isOpen && (circuit.failures < maxFailures || circuit.orgIds.size < neededOrgs)) return
    circuit.openUntilMs = now() + pauseMs
    const ofOrg = neededOrgs === 1 ? { orgId } : {}
    log.warn(
      { provider, ...ofOrg, failures: circuit.failures },
      'a model provider fails and gets no requests for a while',
    )
  }
  /** The circuit of an org exists from its first failure to its next success. */
  const ofOrg = (orgs: Map<string, Circuit>, orgId: string): Circuit => {
    const found = orgs.get(orgId) ?? closed()
    if (orgs.size >= maxOrgs) orgs.clear()
    orgs.set(orgId, found)
    return found
  }
  const settle = (
    error: unknown,
    key: CircuitKey,
    { shared, ofOrgs }: { shared: Circuit; ofOrgs: Map<string, Circuit> },
  ) => {
    if (isProviderFailure(error)) {
      fail(shared, key, minOrgs)
      fail(ofOrg(ofOrgs, key.orgId), key, 1)
    } else if (error === undefined || isResponse(error)) {
      if (shared.openUntilMs !== undefined) log.info({ provider: key.provider }, 'a model provider works again')
      Object.assign(shared, closed())
      ofOrgs.delete(key.orgId)
    }
  }

  return {
    guard: async (key, send) => {
      const circuit = circuits.get(key.provider)
      if (!circuit) return send()
      const all = [circuit.shared, circuit.ofOrgs.get(key.orgId)].filter((one) => one !== undefined)
      for (const one of all) check(one)
      const probing = all.filter((one) => stateOf(one) === 'half-open')
      for (const one of probing) one.isProbing = true
      try {
        const response = await send()
        settle(undefined, key, circuit)
        return response
      } catch (error) {
        settle(error, key, circuit)
        throw error
      } finally {
        for (const one of probing) one.isProbing = false
      }
    },
    states: () =>
      new Map(
        [...circuits].map(([provider, { shared, ofOrgs }]) => [
          provider,
          [shared, ...ofOrgs.values()].reduce((highest, one) => Math.max(highest, gaugeValues[stateOf(one)]), 0),
        ]),
      ),
  }
}
