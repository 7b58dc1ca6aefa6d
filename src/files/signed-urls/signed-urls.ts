import { forbidden } from '../../platform/http/errors.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import { dispositionOf, downloadTypeOf } from '../downloads/content-headers.ts'
import type { Content } from '../content.ts'
import type { SigningDeps } from '../deps.ts'
import type { FileRow } from '../queries.ts'
import { signToken, verifyToken } from './token.ts'
import type { TokenClaims, TokenOperation } from './token.ts'

const downloadSeconds = 300
// A player fetches ranges of the same URL for as long as it plays.
const inlineSeconds = 3_600
const uploadSeconds = 3_600

const inSeconds = (seconds: number): Date => new Date(Date.now() + seconds * 1_000)

const contentUrl = (origin: string, fileId: string, token: string): string =>
  `${origin}${apiPrefix}/files/${fileId}/content?token=${token}`

/** The signed URL to which the bytes of a pending file are uploaded, by PUT. */
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

/** The signed URL of a download: of the object store when it is accessible to clients, otherwise of this API. */
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

/** The signed URL by which a browser shows a file on the content origin. */
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

/** The URL of the same content on the content origin. */
export const contentOriginUrl = (contentBaseUrl: string, fileId: string, token: string | undefined): string =>
  contentUrl(contentBaseUrl, fileId, token ?? '')

/** The claims of a signed URL. Throws FORBIDDEN without the reason when it is not valid for this operation and file. */
export const requireToken = (
  { signingKeys }: SigningDeps,
  token: string | undefined,
  op: TokenOperation,
  fileId: string,
): TokenClaims => {
  const claims = token === undefined ? undefined : verifyToken(signingKeys, token, op, new Date())
  if (claims?.fileId !== fileId.toLowerCase()) throw forbidden('This signed URL is invalid or has expired.')
  return claims
}
