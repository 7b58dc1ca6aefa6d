/** A call that did not succeed: refused by the server, or `NETWORK` when no answer came. */
export class AtriumError extends Error {
  override readonly name = 'AtriumError'
  /** `NOT_FOUND` and its siblings: stable, the contract. */
  readonly code: string
  /** 0 when no answer came. */
  readonly status: number
  /** Finds the call in the server's log and in the audit log. */
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

/** What a refusal says. An answer that is none of ours (a proxy's page) is told by its status. */
export const toError = async (response: Response): Promise<AtriumError> => {
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { code?: string; message?: string } }
    | undefined
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new AtriumError(body?.error?.message ?? `The server answered ${response.status}.`, {
    code: body?.error?.code ?? 'INTERNAL_ERROR',
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  })
}
