import { i18n } from '@lingui/core'
import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { AtriumError } from '@atrium/client'

/** For codes whose message seldom says more than the code. Messages of the others name what is wrong. */
const messages: Partial<Record<string, MessageDescriptor>> = {
  NETWORK: msg`The server cannot be reached.`,
  TIMEOUT: msg`The server did not respond in time.`,
  UNAUTHORIZED: msg`You are not signed in, or what you entered is not correct.`,
  FORBIDDEN: msg`You do not have the permission for this.`,
  NOT_FOUND: msg`This does not exist, or you may not see it.`,
  TOO_MANY_REQUESTS: msg`Too many requests. Wait a moment, then try again.`,
  SERVICE_UNAVAILABLE: msg`The service is unavailable at the moment. Try again.`,
  INTERNAL_ERROR: msg`The server failed. Try again.`,
}

/** The text that is shown for a caught error. */
export const errorMessageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return t`An unexpected error occurred. Try again.`
  // The API answers in English; its messages are more precise, so they are only replaced in other languages.
  if (i18n.locale === 'en' || !(error instanceof AtriumError)) return error.message
  const known = Object.hasOwn(messages, error.code) ? messages[error.code] : undefined
  return known ? i18n._(known) : error.message
}

/** The request ID of a server error, to find it in the server log. Other errors explain themselves. */
export const requestIdOf = (error: unknown): string | undefined =>
  error instanceof AtriumError && error.status >= 500 ? error.requestId : undefined
