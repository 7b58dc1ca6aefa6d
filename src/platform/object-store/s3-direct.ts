import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { ListPartsCommandOutput, S3ClientConfig } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { assertKey, storeUnavailable } from './object-store.ts'
import type { DirectUploads, StoredPart } from './object-store.ts'

interface DirectClients {
  client: S3Client
  /** Signs the URLs, because the host is part of the signature. */
  publicClient: S3Client
  publicConfig: S3ClientConfig
  Bucket: string
}

// Ceph calls an upload that has ended NoSuchKey in one request and NoSuchUpload in others.
const isGone = (error: unknown): boolean =>
  error instanceof S3ServiceException && (error.name === 'NoSuchUpload' || error.name === 'NoSuchKey')

const listParts = async (
  { client, Bucket }: DirectClients,
  Key: string,
  UploadId: string,
): Promise<StoredPart[] | undefined> => {
  const parts: StoredPart[] = []
  let marker: string | undefined
  do {
    const command = new ListPartsCommand({ Bucket, Key, UploadId, PartNumberMarker: marker })
    let page: ListPartsCommandOutput
    try {
      page = await client.send(command)
    } catch (error) {
      if (isGone(error)) return undefined
      throw storeUnavailable(error)
    }
    for (const { PartNumber = 0, Size = 0, ETag = '' } of page.Parts ?? []) {
      parts.push({ number: PartNumber, sizeBytes: Size, etag: ETag })
    }
    marker = page.IsTruncated === true ? page.NextPartNumberMarker : undefined
  } while (marker !== undefined)
  return parts
}

/**
 * Every upload is a multipart upload, also one of one part: after its completion the store rejects its URLs, so that
 * nobody can replace bytes that were verified. A URL for PutObject would stay valid until it expires.
 */
export const createDirectUploads = (clients: DirectClients): DirectUploads => {
  const { client, publicClient, publicConfig, Bucket } = clients
  return {
    origin: async () => {
      // The host does not depend on the credentials, which may be missing when a server starts.
      const credentials = { accessKeyId: 'none', secretAccessKey: 'none' }
      const anonymous = new S3Client({ ...publicConfig, credentials })
      const url = await getSignedUrl(
        anonymous,
        new UploadPartCommand({ Bucket, Key: 'a/b', UploadId: 'c', PartNumber: 1 }),
      )
      anonymous.destroy()
      return new URL(url).origin
    },
    begin: async (Key, { contentType }) => {
      assertKey(Key)
      try {
        const { UploadId } = await client.send(
          new CreateMultipartUploadCommand({ Bucket, Key, ContentType: contentType }),
        )
        if (UploadId === undefined) throw new Error('the store returned no ID of an upload')
        return UploadId
      } catch (error) {
        throw storeUnavailable(error)
      }
    },
    signPart: async (Key, UploadId, { number, sizeBytes, expiresSeconds }) => {
      assertKey(Key)
      try {
        // The header Content-Length is part of the signature: the store rejects another length before it reads the body.
        const part = new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: number, ContentLength: sizeBytes })
        return await getSignedUrl(publicClient, part, { expiresIn: expiresSeconds })
      } catch (error) {
        throw storeUnavailable(error)
      }
    },
    parts: (key, uploadId) => listParts(clients, key, uploadId),
    complete: async (Key, UploadId, parts) => {
      const Parts = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag }))
      try {
        await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }))
      } catch (error) {
        throw storeUnavailable(error)
      }
    },
    abort: async (Key, UploadId) => {
      try {
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
      } catch (error) {
        if (!isGone(error)) throw storeUnavailable(error)
      }
    },
  }
}
