import type { Static } from 'typebox'
import type { ErrorFormat } from '../../platform/http/error-formats.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { ErrorCode } from '../../platform/http/errors.ts'
import type { TurnRow } from '../../sessions/turns/queries.ts'
import { ChatFailure } from './schemas.ts'

export const openAiPrefix = '/api/openai/v1'

type Failure = Static<typeof ChatFailure>

/** The documented responses of rejected requests. */
export const failures = Object.fromEntries(
  [400, 401, 402, 403, 404, 409, 422, 429, 500, 503].map((status) => [status, ChatFailure]),
)

interface ErrorFields {
  type: string
  code: string | null
  param: string | null
}

/** An error with a `type`, `code` or `param` other than the default of its code. */
export class ChatError extends ApiError {
  readonly fields: ErrorFields

  constructor(code: ErrorCode, message: string, fields: Partial<ErrorFields>, headers: Record<string, string> = {}) {
    super(code, message, { headers })
    this.fields = { ...defaultFields[code], ...fields }
  }
}

const request = (code: string | null): ErrorFields => ({ type: 'invalid_request_error', code, param: null })
const server = (code: string): ErrorFields => ({ type: 'server_error', code, param: null })

const defaultFields: Record<ErrorCode, ErrorFields> = {
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

/** The field that a validation message begins with. */
const paramOf = (message: string): string | null => /^([\w.[\]]+) (?:must|is required)/.exec(message)?.[1] ?? null

export const chatFailure = (error: ApiError): Failure => {
  const { type, code, param } = error instanceof ChatError ? error.fields : defaultFields[error.code]
  const field = param ?? (error.code === 'BAD_REQUEST' ? paramOf(error.message) : null)
  return { error: { message: error.message, type, param: field, code } }
}

/** Errors in OpenAI's format, with the same status as in the rest of the API (402 for an empty balance, not 429). */
export const openAiErrors: ErrorFormat = {
  prefix: openAiPrefix,
  failure: (error) => ({ body: chatFailure(error) }),
}

export const unsupported = (param: string, message: string): ChatError =>
  new ChatError('BAD_REQUEST', message, { param, code: 'unsupported_parameter' })

export const invalid = (param: string, message: string): ChatError => new ChatError('BAD_REQUEST', message, { param })

export const modelNotFound = (): ChatError =>
  new ChatError('NOT_FOUND', `Model not found. GET ${openAiPrefix}/models lists the available models.`, {
    param: 'model',
    code: 'model_not_found',
  })

// Without it, the official clients retry a failed request. They must not: the turn is already stored in its session, and
// the runtime has already retried the model call.
const noRetry = { 'x-should-retry': 'false' }

export const turnInProgress = (reason: string): ChatError =>
  new ChatError(
    'SERVICE_UNAVAILABLE',
    `${reason} The turn continues: repeat the request with its Idempotency-Key, or get the turn named by X-Turn-Id.`,
    { code: 'turn_goes_on' },
    noRetry,
  )

const codes: Partial<Record<string, ErrorCode>> = {
  model_rate_limited: 'TOO_MANY_REQUESTS',
  model_unavailable: 'SERVICE_UNAVAILABLE',
  model_silent: 'SERVICE_UNAVAILABLE',
  model_cut: 'SERVICE_UNAVAILABLE',
  model_rejected: 'VALIDATION_ERROR',
  // The reply of the model, not the server, is at fault.
  output_invalid: 'VALIDATION_ERROR',
  agent_unavailable: 'VALIDATION_ERROR',
  forbidden: 'FORBIDDEN',
  key_revoked: 'UNAUTHORIZED',
}

/** The error of a turn without a completion. Undefined for a completed or incomplete turn. */
export const turnFailure = ({ id, status, error }: Pick<TurnRow, 'id' | 'status' | 'error'>): ChatError | undefined => {
  if (status === 'failed') {
    const { code, message } = error ?? { code: 'internal', message: 'The turn failed.' }
    return new ChatError(codes[code] ?? 'INTERNAL_ERROR', message, { code }, noRetry)
  }
  if (status === 'cancelled') {
    return new ChatError('CONFLICT', 'The turn was cancelled.', { code: 'turn_cancelled' }, noRetry)
  }
  if (status === 'requires_action') {
    const message = `The turn waits for a person to approve a tool call: POST /api/v1/turns/${id}/approvals.`
    return new ChatError('CONFLICT', message, { code: 'turn_requires_action' }, noRetry)
  }
  return undefined
}
