import type { Log } from '../../platform/process/log.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import { ModelFailure } from './model-client.ts'

/** Consecutive failures after which no requests are sent for a while. More than one turn makes without a success. */
const maxFailures = 5
const pauseMs = 10_000
/** While one request finds out whether the provider works again. */
const probeWaitMs = 1_000

type State = 'closed' | 'half-open' | 'open'
const gaugeValues: Record<State, number> = { closed: 0, 'half-open': 0.5, open: 1 }

interface Circuit {
  failures: number
  /** When requests are sent again. Undefined while the circuit is closed. */
  openUntilMs: number | undefined
  isProbing: boolean
}

/** Stops sending requests to providers that fail, separately for each provider and process. */
export interface Circuits {
  /**
   * Sends a request, whose promise settles with the head of the response. Throws a ModelFailure without sending it when
   * the provider's circuit is open.
   */
  guard<T>(provider: string, send: () => Promise<T>): Promise<T>
  /** 0 for closed, 0.5 for half-open, 1 for open, by provider. */
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

export const createCircuits = (
  providers: readonly { name: string }[],
  log: Pick<Log, 'warn' | 'info'>,
  now: () => number = () => performance.now(),
): Circuits => {
  const closed = (): Circuit => ({ failures: 0, openUntilMs: undefined, isProbing: false })
  const circuits = new Map(providers.map(({ name }) => [name, closed()]))

  const stateOf = ({ openUntilMs }: Circuit): State => {
    if (openUntilMs === undefined) return 'closed'
    return now() < openUntilMs ? 'open' : 'half-open'
  }
  const reject = (waitMs: number): never => {
    const message = "The model's provider failed several times, so it gets no requests for a few seconds."
    throw new ModelFailure('unavailable', message, { retryAfterMs: waitMs })
  }
  const succeed = (provider: string, circuit: Circuit): void => {
    if (circuit.openUntilMs !== undefined) log.info({ provider }, 'a model provider works again')
    Object.assign(circuit, closed())
  }
  const fail = (provider: string, circuit: Circuit, wasProbe: boolean): void => {
    circuit.failures += 1
    // Requests that were sent before the circuit opened do not prolong the pause.
    if (!wasProbe && (circuit.openUntilMs !== undefined || circuit.failures < maxFailures)) return
    circuit.openUntilMs = now() + pauseMs
    log.warn({ provider, failures: circuit.failures }, 'a model provider fails and gets no requests for a while')
  }

  return {
    guard: async (provider, send) => {
      const circuit = circuits.get(provider)
      if (!circuit) return send()
      const state = stateOf(circuit)
      if (state === 'open') reject((circuit.openUntilMs as number) - now())
      if (state === 'half-open' && circuit.isProbing) reject(probeWaitMs)
      const isProbe = state === 'half-open'
      if (isProbe) circuit.isProbing = true
      try {
        const response = await send()
        succeed(provider, circuit)
        return response
      } catch (error) {
        if (isProviderFailure(error)) fail(provider, circuit, isProbe)
        else if (isResponse(error)) succeed(provider, circuit)
        throw error
      } finally {
        if (isProbe) circuit.isProbing = false
      }
    },
    states: () => new Map([...circuits].map(([provider, circuit]) => [provider, gaugeValues[stateOf(circuit)]])),
  }
}
