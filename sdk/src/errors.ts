/** A failed request: the server rejected it, or there was no response (`NETWORK`). */
export class AtriumError extends Error {
  override readonly name = 'AtriumError'
  /** A stable error code of the API such as `NOT_FOUND`, or `NETWORK`. */
  readonly code: string
  /** HTTP status; 0 when there was no response. */
  readonly status: number
  /** Identifies the request in the server's log and in the audit log. */
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    details: { code: string; status: number; requestId?: string | undefined; retryAfterSeconds?: number | undefined },
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.code = details.code
    this.status = details.status
    this.requestId = details.requestId
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

export const offline = (cause: unknown): AtriumError =>
  new AtriumError('The server cannot be reached.', { code: 'NETWORK', status: 0 }, { cause })

/** Parses an error response. A response without the API's envelope, such as a proxy's error page, is reported by its status. */
export const toError = async (response: Response): Promise<AtriumError> => {
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { code?: string; message?: string } }
    | undefined
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new AtriumError(body?.error?.message ?? `The server returned status ${response.status}.`, {
    code: body?.error?.code ?? 'INTERNAL_ERROR',
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  })
}
