import { i18n } from '@lingui/core'
import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { AtriumError } from '@atrium/client'
import type { ClientErrorCode, ErrorCode } from '@atrium/client'
import { translatedApiText } from '../i18n/language.ts'

type Code = ErrorCode | ClientErrorCode

/** What each code means, for messages without a translation. */
const messages: Record<Code, MessageDescriptor> = {
  NETWORK: msg`The server cannot be reached.`,
  TIMEOUT: msg`The server did not respond in time.`,
  INVALID_RESPONSE: msg`The response is not from Atrium. Check the URL of the server.`,
  BAD_REQUEST: msg`The input is not valid.`,
  UNAUTHORIZED: msg`You are not signed in, or what you entered is not correct.`,
  PAYMENT_REQUIRED: msg`The balance or a quota of the plan does not allow this.`,
  FORBIDDEN: msg`You do not have the permission for this.`,
  NOT_FOUND: msg`This does not exist, or you may not see it.`,
  CONFLICT: msg`This does not fit the current state.`,
  VALIDATION_ERROR: msg`This is not possible.`,
  TOO_MANY_REQUESTS: msg`Too many requests. Wait a moment, then try again.`,
  SERVICE_UNAVAILABLE: msg`The service is unavailable at the moment. Try again.`,
  INTERNAL_ERROR: msg`The server failed. Try again.`,
}

/** Codes whose messages say more than the code: they follow its text. */
const detailed = new Set<string>(['BAD_REQUEST', 'PAYMENT_REQUIRED', 'CONFLICT', 'VALIDATION_ERROR'])

/** The text that is shown for a caught error. */
export const errorMessageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return t`An unexpected error occurred. Try again.`
  if (!(error instanceof AtriumError)) return error.message
  const translated = translatedApiText(error.message)
  if (translated !== undefined) return translated
  // A newer server can have codes that this version of the console does not know.
  const meaning = Object.hasOwn(messages, error.code) ? messages[error.code as Code] : undefined
  if (meaning === undefined) return error.message
  return detailed.has(error.code) ? `${i18n._(meaning)} ${error.message}` : i18n._(meaning)
}

/** The request ID of a server error, to find it in the server log. Other errors explain themselves. */
export const requestIdOf = (error: unknown): string | undefined =>
  error instanceof AtriumError && error.status >= 500 ? error.requestId : undefined
