import type { ErrorFormat } from '../../platform/http/error-formats.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { ErrorCode } from '../../platform/http/errors.ts'
import { davDocument, davElement, escapeXml, xmlType } from './xml/write.ts'

export const davPrefix = '/dav'

/** An error with a status that the API does not have, and a precondition element of RFC 4918, section 16. */
export class DavError extends ApiError {
  readonly davStatus: number
  readonly condition: string

  constructor(code: ErrorCode, message: string, more: { status: number; condition?: string; allow?: string }) {
    super(code, message, more.allow === undefined ? {} : { headers: { allow: more.allow } })
    this.davStatus = more.status
    this.condition = more.condition ?? ''
  }
}

export const failedPrecondition = (message: string): DavError => new DavError('CONFLICT', message, { status: 412 })

export const locked = (message: string, condition?: string): DavError =>
  new DavError('CONFLICT', message, { status: 423, ...(condition === undefined ? {} : { condition }) })

export const insufficientStorage = (message: string): DavError => new DavError('FORBIDDEN', message, { status: 507 })

const statusOf = (error: ApiError): number => {
  if (error instanceof DavError) return error.davStatus
  if (error.name === 'QuotaExceeded' || error.code === 'PAYMENT_REQUIRED') return 507
  const { cause } = error
  if ((cause as { code?: string } | undefined)?.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 413
  return error.status
}

/** Errors below `/dav` are XML: `DAV:error` with the precondition, if there is one, and a message for people. */
export const davErrors: ErrorFormat = {
  prefix: davPrefix,
  failure: (error) => {
    const condition =
      error instanceof DavError ? error.condition : statusOf(error) === 507 ? davElement('quota-not-exceeded') : ''
    const message = `<message xmlns="urn:atrium:webdav">${escapeXml(error.message)}</message>`
    return {
      status: statusOf(error),
      headers: { 'content-type': xmlType },
      body: davDocument('error', condition + message),
    }
  },
}
