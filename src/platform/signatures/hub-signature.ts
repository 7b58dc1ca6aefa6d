import { accepted, fromHex, headerOf, hmac, isSame, malformed, mismatch, missing } from './signed-request.ts'
import type { SignedRequest, SignatureVerdict } from './signed-request.ts'

/** Verifies `<header>: sha256=<hex>`, the HMAC-SHA256 of the body. It has no timestamp, so a replayed request is valid. */
export const verifyHubSignature = (header: string, request: SignedRequest, secret: string): SignatureVerdict => {
  const value = headerOf(request, header)
  if (value === undefined) return missing(header)
  const given = value.startsWith('sha256=') ? fromHex(value.slice('sha256='.length), 32) : undefined
  if (!given) return malformed(header, 'sha256=<64 hexadecimal digits>')
  return isSame(given, hmac('sha256', secret, request.body)) ? accepted : mismatch
}
