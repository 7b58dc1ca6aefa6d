import type { Static } from 'typebox'
import type { ErrorFormat } from '../../platform/http/error-formats.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { ErrorCode } from '../../platform/http/errors.ts'
import type { TurnRow } from '../../sessions/turns/queries.ts'
import type { ChatFailure } from './schemas.ts'

export const openAiPrefix = '/api/openai/v1'

type ChatFailure = Static<typeof ChatFailure>

interface Words {
  type: string
  code: string | null
  param: string | null
}

/** A refusal for which OpenAI has words of its own. */
export class ChatError extends ApiError {
  readonly words: Words

  constructor(code: ErrorCode, message: string, words: Partial<Words>, headers: Record<string, string> = {}) {
    super(code, message, { headers })
    this.words = { ...usualWords[code], ...words }
  }
}

const request = (code: string | null): Words => ({ type: 'invalid_request_error', code, param: null })
const server = (code: string): Words => ({ type: 'server_error', code, param: null })

const usualWords: Record<ErrorCode, Words> = {
  BAD_REQUEST: request(null),
  UNAUTHORIZED: request('invalid_api_key'),
  PAYMENT_REQUIRED: { type: 'insufficient_quota', code: 'insufficient_quota', param: null },
  FORBIDDEN: request('permission_denied'),
  NOT_FOUND: request('not_found'),
  CONFLICT: request('conflict'),
  VALIDATION_ERROR: request('unprocessable'),
  TOO_MANY_REQUESTS: { type: 'rate_limit_error', code: 'rate_limit_exceeded', param: null },
  INTERNAL_ERROR: server('internal_error'),
  SERVICE_UNAVAILABLE: server('service_unavailable'),
}

/** The field that a message of the validation is about: it begins with its name. */
const paramOf = (message: string): string | null => /^([\w.[\]]+) (?:must|is required)/.exec(message)?.[1] ?? null

export const chatFailure = (error: ApiError): ChatFailure => {
  const { type, code, param } = error instanceof ChatError ? error.words : usualWords[error.code]
  const field = param ?? (error.code === 'BAD_REQUEST' ? paramOf(error.message) : null)
  return { error: { message: error.message, type, param: field, code } }
}

/** Failures as OpenAI's clients know them, with the status that the same failure has everywhere. */
export const openAiDialect: ErrorFormat = {
  prefix: openAiPrefix,
  failure: (error) => ({ body: chatFailure(error) }),
}

export const unsupported = (param: string, message: string): ChatError =>
  new ChatError('BAD_REQUEST', message, { param, code: 'unsupported_parameter' })

export const noSuchModel = (): ChatError =>
  new ChatError('NOT_FOUND', `There is no such model. GET ${openAiPrefix}/models lists those that there are.`, {
    param: 'model',
    code: 'model_not_found',
  })

// The official clients repeat what failed. A turn that began is in the session already, and its model was tried again.
const onceIsEnough = { 'x-should-retry': 'false' }

export const notYet = (why: string): ChatError =>
  new ChatError(
    'SERVICE_UNAVAILABLE',
    `${why} The turn goes on: repeat the request with its Idempotency-Key to take it up, or look at X-Turn-Id.`,
    { code: 'turn_goes_on' },
    onceIsEnough,
  )

const codes: Partial<Record<string, ErrorCode>> = {
  model_rate_limited: 'TOO_MANY_REQUESTS',
  model_unavailable: 'SERVICE_UNAVAILABLE',
  model_silent: 'SERVICE_UNAVAILABLE',
  model_cut: 'SERVICE_UNAVAILABLE',
  model_rejected: 'VALIDATION_ERROR',
  agent_unavailable: 'VALIDATION_ERROR',
  forbidden: 'FORBIDDEN',
  key_revoked: 'UNAUTHORIZED',
}

/** Why a turn at rest has no completion. Undefined when it has one, be it cut short. */
export const failureOf = ({ id, status, error }: Pick<TurnRow, 'id' | 'status' | 'error'>): ChatError | undefined => {
  if (status === 'failed') {
    const { code, message } = error ?? { code: 'internal', message: 'The turn failed.' }
    return new ChatError(codes[code] ?? 'INTERNAL_ERROR', message, { code }, onceIsEnough)
  }
  if (status === 'cancelled') {
    return new ChatError('CONFLICT', 'The turn was cancelled.', { code: 'turn_cancelled' }, onceIsEnough)
  }
  if (status === 'requires_action') {
    const message = `A person has to decide about a tool before the turn goes on: POST /api/v1/turns/${id}/approvals.`
    return new ChatError('CONFLICT', message, { code: 'turn_requires_action' }, onceIsEnough)
  }
  return undefined
}
