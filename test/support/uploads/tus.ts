import assert from 'node:assert/strict'
import { Upload } from 'tus-js-client'
import type { UploadOptions } from 'tus-js-client'
import type { Answer, TestActor, TestApp } from '../../harness.ts'

export const uploads = '/api/v1/uploads'

export const metadataOf = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')

export interface Begin {
  size: number
  metadata?: Record<string, string>
  headers?: Record<string, string>
  body?: Buffer
}

/** Sends the request that begins an upload. */
export const begin = (app: TestApp, as: TestActor, { size, metadata, headers = {}, body }: Begin): Promise<Answer> =>
  app.call('POST', uploads, {
    as,
    ...(body === undefined ? {} : { body }),
    headers: {
      'tus-resumable': '1.0.0',
      'upload-length': String(size),
      'upload-metadata': metadataOf(metadata ?? { name: 'a.bin', type: 'application/octet-stream' }),
      ...(body === undefined ? {} : { 'content-type': 'application/offset+octet-stream' }),
      ...headers,
    },
  })

/** Begins an upload. Returns its path. */
export const begun = async (app: TestApp, as: TestActor, given: Begin): Promise<string> => {
  const { status, headers, text } = await begin(app, as, given)
  assert.equal(status, 201, text)
  return new URL(headers.get('location') ?? '').pathname
}

export const append = (
  app: TestApp,
  as: TestActor,
  path: string,
  { offset, body, headers = {} }: { offset: number; body: Buffer; headers?: Record<string, string> },
): Promise<Answer> =>
  app.call('PATCH', path, {
    as,
    body,
    headers: {
      'tus-resumable': '1.0.0',
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(offset),
      ...headers,
    },
  })

export const ask = (app: TestApp, as: TestActor, path: string): Promise<Answer> =>
  app.call('HEAD', path, { as, headers: { 'tus-resumable': '1.0.0' } })

/** Runs an upload of tus-js-client to its end. Returns the ID of the file. */
export const runClient = (app: TestApp, as: TestActor, bytes: Buffer, options: UploadOptions): Promise<string> =>
  new Promise((resolve, reject) => {
    const upload = new Upload(bytes, {
      endpoint: app.url + uploads,
      headers: { authorization: `Bearer ${as.key}` },
      retryDelays: null,
      onError: reject,
      onSuccess: ({ lastResponse }) => resolve(lastResponse.getHeader('atrium-file-id') ?? ''),
      ...options,
    })
    upload.start()
  })

/** Runs an upload of tus-js-client until `stops` is true after a chunk. Returns the URL of the upload. */
export const runUntil = (
  app: TestApp,
  as: TestActor,
  bytes: Buffer,
  { stops, ...options }: UploadOptions & { stops: (accepted: number) => boolean },
): Promise<string> =>
  new Promise((resolve, reject) => {
    const upload: Upload = new Upload(bytes, {
      endpoint: app.url + uploads,
      headers: { authorization: `Bearer ${as.key}` },
      retryDelays: null,
      onError: reject,
      onChunkComplete: (_size, accepted) => {
        if (stops(accepted)) upload.abort().then(() => resolve(upload.url ?? ''), reject)
      },
      ...options,
    })
    upload.start()
  })
