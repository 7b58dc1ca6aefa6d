import { t } from '@lingui/core/macro'
import { AtriumError } from '@atrium/client'
import type { ErrorCode } from '@atrium/client'

const failureOf = (request: XMLHttpRequest): AtriumError => {
  const requestId = request.getResponseHeader('x-request-id') ?? undefined
  const retryAfter = Number(request.getResponseHeader('retry-after') ?? Number.NaN)
  let body: { error?: { code?: ErrorCode; message?: string } } = {}
  try {
    body = JSON.parse(request.responseText) as typeof body
  } catch {
    // A proxy answered with a body that is not JSON.
  }
  return new AtriumError(body.error?.message ?? t`The server responded with status ${request.status}.`, {
    code: body.error?.code ?? 'INTERNAL_ERROR',
    status: request.status,
    requestId,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  })
}

export interface UploadRequest {
  method: string
  url: string
  headers: Record<string, string>
  body?: XMLHttpRequestBodyInit
  signal?: AbortSignal
  onProgress?: (progress: { loaded: number; total: number }) => void
}

/** Sends a request and resolves with its successful response. Uses XMLHttpRequest because fetch has no upload progress. */
export const sendRequest = ({
  method,
  url,
  headers,
  body,
  signal,
  onProgress,
}: UploadRequest): Promise<XMLHttpRequest> =>
  new Promise((resolve, reject) => {
    const cancelled = (): DOMException => new DOMException(t`The upload was cancelled.`, 'AbortError')
    if (signal?.aborted) {
      reject(cancelled())
      return
    }
    const request = new XMLHttpRequest()
    request.open(method, url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    if (onProgress) request.upload.addEventListener('progress', onProgress)
    request.addEventListener('load', () =>
      request.status >= 200 && request.status < 300 ? resolve(request) : reject(failureOf(request)),
    )
    request.addEventListener('error', () =>
      reject(new AtriumError(t`The connection was lost. Try again.`, { code: 'NETWORK', status: 0 })),
    )
    const cancel = (): void => {
      request.abort()
      reject(cancelled())
    }
    request.addEventListener('loadend', () => signal?.removeEventListener('abort', cancel))
    signal?.addEventListener('abort', cancel)
    request.send(body ?? null)
  })
