import { accepted, bytesOfHeader, headerOf, isSame, missing, rejected, sha256 } from './signed-request.ts'
import type { SignedRequest, SignatureVerdict } from './signed-request.ts'

/**
 * Verifies a header that contains the secret itself. Compares SHA-256 hashes, in constant time for any length. It
 * authenticates the sender and protects neither the body nor the time.
 */
export const verifySharedToken = (header: string, request: SignedRequest, secretHash: Uint8Array): SignatureVerdict => {
  const value = headerOf(request, header)
  if (value === undefined) return missing(header)
  if (isSame(sha256(bytesOfHeader(value)), secretHash)) return accepted
  return rejected(`The header ${header} does not contain the secret.`)
}
