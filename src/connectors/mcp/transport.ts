import { OutboundError } from '../../platform/outbound/outbound.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { ProviderError } from '../connections/provider-error.ts'
import { parseChallenge } from './oauth/challenge.ts'
import type { Challenge } from './oauth/challenge.ts'
import { name, unavailable } from './responses.ts'
import type { Message } from './responses.ts'
import type { McpTarget } from './session.ts'

/** Of one request and its response. */
export const timeoutMs = 30_000

/** A response that asks for authorization: 401, or 403 for a token without a scope. */
export class McpChallenge extends ProviderError {
  /** 401 or 403. */
  readonly responseStatus: number
  readonly challenge: Challenge

  constructor(status: number, challenge: Challenge) {
    super(status === 401 ? 'invalid_credentials' : 'rejected', `${name} responded with status ${status}.`)
    this.name = 'McpChallenge'
    this.responseStatus = status
    this.challenge = challenge
  }
}

/** The error for a response that is not 2xx. */
export const failureOf = ({ status, headers }: Response): ProviderError => {
  if (status === 401 || status === 403) return new McpChallenge(status, parseChallenge(headers.get('www-authenticate')))
  const isUnavailable = status === 429 || status >= 500
  return new ProviderError(isUnavailable ? 'unavailable' : 'rejected', `${name} responded with status ${status}.`)
}

/** The result of a response. Throws a ProviderError with the server's message for an error. */
export const resultOf = ({ result, error }: Message, scrub: McpTarget['scrub']): Record<string, unknown> => {
  if (error) {
    const message = typeof error.message === 'string' ? scrub(error.message).slice(0, 500) : 'no message'
    throw new ProviderError('rejected', `${name} returned an error: ${message}`)
  }
  if (typeof result !== 'object' || result === null) throw unavailable('sent a response without a result')
  return result as Record<string, unknown>
}

export interface McpRequest {
  method: 'POST' | 'DELETE' | 'GET'
  body?: object | undefined
  /** Of the revision. */
  headers: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
}

/** Sends one request with the token of the connection. Returns a response of any status. */
export type Transport = (request: McpRequest) => Promise<Response>

/** `signal` ends all requests. Throws a ProviderError when there is no response. */
export const createTransport =
  (outbound: Outbound, target: McpTarget, signal: AbortSignal | undefined): Transport =>
  async ({ method, body, headers, signal: own }) => {
    const signals = [AbortSignal.timeout(timeoutMs), signal, own].filter((one) => one !== undefined)
    try {
      return await outbound.fetch(target.url, {
        method,
        headers: {
          accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
          'user-agent': 'Atrium',
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(target.token === undefined ? {} : { authorization: `Bearer ${target.token}` }),
          ...headers,
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        signal: AbortSignal.any(signals),
        trusted: target.trusted,
        orgId: target.orgId,
      })
    } catch (error) {
      if (signal?.aborted) throw error
      const reason = error instanceof OutboundError ? error.message : `no response within ${timeoutMs / 1_000} s`
      throw unavailable(`could not be reached: ${reason.replace(/\.$/, '')}`, error)
    }
  }
