import { accepted, bytesOfHeader, headerOf, isSame, missing, rejected, sha256 } from './signed-request.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'

/**
 * A secret that is sent along as it is, compared by its SHA-256: in constant time whatever its length. It says who
 * called, and nothing of the body or the time.
 */
export const verifySharedToken = (header: string, request: SignedRequest, secretHash: Uint8Array): Verdict => {
  const value = headerOf(request, header)
  if (value === undefined) return missing(header)
  if (isSame(sha256(bytesOfHeader(value)), secretHash)) return accepted
  return rejected(`The header ${header} does not carry the secret.`)
}
