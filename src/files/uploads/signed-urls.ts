import type { Config } from '../../config/config.ts'
import { forbidden } from '../../platform/http/errors.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { ObjectStore } from '../../platform/object-store/object-store.ts'
import { dispositionOf, downloadTypeOf } from '../downloads/content-headers.ts'
import type { Content } from '../files.ts'
import type { FileRow } from '../queries.ts'
import { signToken, verifyToken } from './signed-token.ts'
import type { SigningKey, TokenClaims, TokenOperation } from './signed-token.ts'

export interface SigningDeps {
  config: Config
  objects: ObjectStore
  signingKeys: readonly SigningKey[]
}

const downloadSeconds = 300
// Media are fetched by range while they play, by the URL that they began with.
const inlineSeconds = 3_600
const uploadSeconds = 3_600

const inSeconds = (seconds: number): Date => new Date(Date.now() + seconds * 1_000)

const contentUrl = (origin: string, fileId: string, token: string): string =>
  `${origin}${apiPrefix}/files/${fileId}/content?token=${token}`

/** Where a pending file's bytes go. */
export const uploadUrlOf = ({ signingKeys }: SigningDeps, orgId: string, file: FileRow, origin: string): string =>
  contentUrl(
    origin,
    file.id,
    signToken(signingKeys, {
      op: 'put',
      orgId,
      fileId: file.id,
      contentType: file.mimeType ?? '',
      sizeBytes: file.size,
      disposition: '',
      expiresAt: inSeconds(uploadSeconds),
    }),
  )

/** Where the bytes of a file come from: the store itself when clients can reach it, else this API. */
export const downloadUrlOf = async (
  { config, objects, signingKeys }: SigningDeps,
  orgId: string,
  content: Content,
  origin: string,
): Promise<string> => {
  const disposition = dispositionOf('attachment', content.name)
  if (objects.signedGetUrl) {
    return objects.signedGetUrl(content.storageKey, {
      expiresSeconds: downloadSeconds,
      contentType: downloadTypeOf(content.mimeType),
      contentDisposition: disposition,
    })
  }
  const token = signToken(signingKeys, {
    op: 'get',
    orgId,
    fileId: content.id,
    contentType: content.mimeType,
    sizeBytes: content.sizeBytes,
    disposition,
    expiresAt: inSeconds(downloadSeconds),
  })
  return contentUrl(config.contentBaseUrl ?? origin, content.id, token)
}

/** Where a browser shows a file on the origin of user content. */
export const inlineUrlOf = (
  { signingKeys }: SigningDeps,
  orgId: string,
  content: Content,
  contentBaseUrl: string,
): string => {
  const token = signToken(signingKeys, {
    op: 'get',
    orgId,
    fileId: content.id,
    contentType: content.mimeType,
    sizeBytes: content.sizeBytes,
    disposition: dispositionOf('inline', content.name),
    expiresAt: inSeconds(inlineSeconds),
  })
  return contentUrl(contentBaseUrl, content.id, token)
}

/** The URL of the same content on the origin of user content. */
export const contentUrlElsewhere = (contentBaseUrl: string, fileId: string, token: string | undefined): string =>
  contentUrl(contentBaseUrl, fileId, token ?? '')

/** What a signed URL says. Throws FORBIDDEN, without saying why, for one that is not good for this on this file. */
export const requireToken = (
  { signingKeys }: SigningDeps,
  token: string | undefined,
  op: TokenOperation,
  fileId: string,
): TokenClaims => {
  const claims = token === undefined ? undefined : verifyToken(signingKeys, token, op, new Date())
  if (claims?.fileId !== fileId.toLowerCase()) throw forbidden('This signed URL is not valid, or not any longer.')
  return claims
}
