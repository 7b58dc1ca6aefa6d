import {
  accepted,
  fromBase64,
  fromHex,
  headerOf,
  hmac,
  isSame,
  malformed,
  mismatch,
  missing,
  rejected,
  sha256,
} from './signed-request.ts'
import { maxFormFields, parseFormFields } from '../http/form-fields.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'

const header = 'X-Twilio-Signature'

const standardPorts: Record<string, string> = { 'https:': '443', 'http:': '80' }

/** Twilio signs the URL as it was entered, or with the port that it connected to: both are tried. */
const spellingsOf = (url: string): string[] => {
  const parsed = URL.parse(url)
  if (!parsed) return [url]
  const rest = `${parsed.pathname}${parsed.search}`
  const port = parsed.port === '' ? standardPorts[parsed.protocol] : parsed.port
  const origin = `${parsed.protocol}//${parsed.hostname}`
  return [...new Set([url, `${origin}${rest}`, `${origin}:${port}${rest}`])]
}

/** Every parameter and its values without repetition, in order, with nothing in between. */
const concatenated = (form: URLSearchParams): string =>
  [...Map.groupBy(form, ([name]) => name)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, pairs]) =>
      [...new Set(pairs.map(([, value]) => value))]
        .toSorted()
        .map((value) => name + value)
        .join(''),
    )
    .join('')

/**
 * https://www.twilio.com/docs/usage/webhooks/webhooks-security. `url` is the public address that Twilio was given, with
 * the query of this request. A form is signed with the URL; any other body by its hash in the URL.
 */
export const verifyTwilio = (request: SignedRequest & { url: string }, authToken: string): Verdict => {
  const value = headerOf(request, header)
  if (value === undefined) return missing(header)
  const given = fromBase64(value, 20)
  if (!given) return malformed(header, '<base64 of 20 bytes>')
  const isForm = headerOf(request, 'content-type')?.toLowerCase().startsWith('application/x-www-form-urlencoded')
  // Before the signature is checked, anybody may have sent it.
  const form = isForm ? parseFormFields(request.body) : undefined
  if (isForm && form === undefined) return rejected(`The form has more than ${maxFormFields} fields.`)
  const signed = form ? concatenated(form) : ''
  if (!spellingsOf(request.url).some((url) => isSame(given, hmac('sha1', authToken, url, signed)))) {
    return rejected(
      'The signature does not match: it was made with another token or for another URL, or the parameters were altered.',
    )
  }
  if (isForm) return accepted
  const named = URL.parse(request.url)?.searchParams.get('bodySHA256')
  if (named === null || named === undefined) return rejected('The parameter bodySHA256 is missing from the URL.')
  const hash = fromHex(named, 32)
  return hash && isSame(hash, sha256(request.body)) ? accepted : mismatch
}
