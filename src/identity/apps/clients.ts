import { createHmac, timingSafeEqual } from 'node:crypto'
import { badRequest } from '../../platform/http/errors.ts'
import { OutboundError } from '../../platform/outbound/outbound.ts'
import { cutText } from '../../platform/text/text.ts'
import type { AppDeps } from './deps.ts'

/** A program that asks for authorization. Its name is its own claim. */
export interface AppClient {
  id: string
  name: string
  redirectUris: string[]
  /** The host that published the metadata document; null for a client that registered itself. */
  publisher: string | null
}

const maxNameLength = 80
const maxRedirectUris = 16
const maxUriLength = 500
/** Of the client id, which is sent in URLs. */
const maxRegistrationLength = 2_000
const documentLimits = { timeoutMs: 5_000, maxBytes: 16_384 }

/**
 * Schemes that a browser or an operating system itself handles, so that a "redirect" would run or open content of the
 * client's choice: code, other pages, network shares, installers, settings, calls and payments.
 */
const systemSchemes = new RegExp(
  `^(?:${[
    'javascript|livescript|mocha|vbscript|data|file|blob|about|filesystem|view-source|wyciwyg|jar|resource',
    'wss?|ftps?|sftp|tftp|gopher|dict|feed|news|nntp|snews|ircs?|ipps?|rtsps?|rtmps?|mms|magnet|ed2k|urn|cid|mid|dns',
    'intent|android-app|android-resource|content|market|fb|googlechromes?|firefox|microsoft-edge[\\w.+-]*',
    'chrome[\\w.+-]*|edge|opera|brave|vivaldi|devtools|[\\w.+-]*-extension',
    'mailto|message|tel|telprompt|sms|mms(?:to)?|callto|sips?|facetime[\\w.+-]*|skype|webcal|geo|maps|bitcoin|lightning',
    'ms-[\\w.+-]*|windowsdefender|search[\\w.+-]*|shell|calculator|bingmaps|help',
    'itms[\\w.+-]*|x-apple[\\w.+-]*|x-help-script|x-man-page|x-radar|applescript|shortcuts|workflow|prefs|app-prefs',
    'smb|cifs|afp|nfs|dav[\\w.+-]*|ldaps?|ssh|telnet|tn3270|rlogin|vnc|rdp|git|svn|steam',
  ].join('|')}):$`,
)
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]'])
const isLoopback = (url: URL): boolean => url.protocol === 'http:' && loopbackHosts.has(url.hostname)

/** Whether a person may be sent there: https, http on the own machine, or the scheme of an installed program (RFC 8252). */
export const isRedirectUri = (uri: unknown): uri is string => {
  if (typeof uri !== 'string' || uri.length > maxUriLength || !/^[\u0021-\u007e]+$/.test(uri)) return false
  const url = URL.parse(uri)
  // A backslash is a slash to browsers and part of a name to others.
  if (!url || /[#\\]/.test(uri) || url.username !== '' || url.password !== '') return false
  if (url.protocol === 'http:') return isLoopback(url)
  // `https:host` is a path to others than browsers.
  if (url.protocol === 'https:') return /^https:\/\//i.test(uri)
  return !systemSchemes.test(url.protocol) && /^[a-z][\w+.-]*:\//i.test(uri)
}

/** Exact comparison, except for the port of a loopback address (RFC 8252, 7.3). */
export const isRegistered = (client: AppClient, uri: string): boolean => {
  // An earlier version may have registered a URI that is none today.
  if (!isRedirectUri(uri)) return false
  if (client.redirectUris.includes(uri)) return true
  const asked = new URL(uri)
  if (!isLoopback(asked)) return false
  asked.port = ''
  return client.redirectUris.some((registered) => {
    const url = new URL(registered)
    url.port = ''
    return isLoopback(url) && url.href === asked.href
  })
}

/** Letters and symbols that are drawn as nothing: fillers of Hangul, the empty pattern of Braille. */
const invisible = /[\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * One line of visible text with single spaces: no control characters, nor characters that change the direction of the text
 * around them or are invisible.
 */
const nameOf = (value: unknown, fallback: string): string => {
  if (typeof value !== 'string') return fallback
  const clean = cutText(
    value
      .replaceAll(invisible, '')
      .replaceAll(/\s+/gu, ' ')
      .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
      .trim(),
    maxNameLength,
  ).trim()
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(clean) ? clean : fallback
}

const redirectUrisOf = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.length > 0 && value.length <= maxRedirectUris && value.every(isRedirectUri)
    ? value
    : undefined

const signed = (key: Buffer, content: string): Buffer => createHmac('sha256', key).update(content).digest()

const keysOf = (deps: Pick<AppDeps, 'secrets'>) => deps.secrets.deriveKeys('OAuth clients')

/** Undefined for metadata without valid redirect URIs, or with too many or too long ones. */
export const registerClient = (
  deps: Pick<AppDeps, 'secrets'>,
  metadata: Readonly<Record<string, unknown>>,
): AppClient | undefined => {
  const redirectUris = redirectUrisOf(metadata['redirect_uris'])
  if (!redirectUris) return undefined
  const name = nameOf(metadata['client_name'], 'Unnamed app')
  const content = Buffer.from(JSON.stringify([name, ...redirectUris])).toString('base64url')
  const [current] = keysOf(deps)
  if (!current || content.length > maxRegistrationLength) return undefined
  // The id contains the registration, so that nothing is stored: anybody may register any number of clients.
  const id = `${content}.${signed(current.key, content).toString('base64url')}`
  return { id, name, redirectUris, publisher: null }
}

const registeredClient = (deps: Pick<AppDeps, 'secrets'>, id: string): AppClient | undefined => {
  const [content = '', signature = ''] = id.split('.', 2)
  const given = Buffer.from(signature, 'base64url')
  const isOurs = keysOf(deps).some(({ key }) => {
    const expected = signed(key, content)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  if (!isOurs || id !== `${content}.${signature}`) return undefined
  const [name = '', ...redirectUris] = JSON.parse(Buffer.from(content, 'base64url').toString()) as string[]
  return { id, name, redirectUris, publisher: null }
}

const parsed = (body: Buffer): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** A client whose id is the URL of its metadata (draft-ietf-oauth-client-id-metadata-document). */
const publishedClient = async (
  { outbound }: Pick<AppDeps, 'outbound'>,
  id: string,
  orgId: string,
): Promise<AppClient> => {
  const url = URL.parse(id)
  if (!url || url.href !== id || url.pathname === '/' || url.hash !== '' || url.username !== '') {
    throw badRequest('client_id must be the URL of a metadata document, with a path and without a fragment.')
  }
  const response = await outbound
    .request(url, { ...documentLimits, orgId, headers: { accept: 'application/json' } })
    .catch((error: unknown) => {
      if (!(error instanceof OutboundError)) throw error
      throw badRequest(`The metadata document of the app could not be read: ${error.message}`)
    })
  // A host that shows uploads of its users as pages has not published them as metadata.
  const isJson = /^application\/(?:[\w.+-]+\+)?json\b/i.test(response.headers['content-type'] ?? '')
  const document = response.status === 200 && !response.truncated && isJson ? parsed(response.body) : {}
  const redirectUris = redirectUrisOf(document['redirect_uris'])
  const method = document['token_endpoint_auth_method'] ?? 'none'
  if (document['client_id'] !== id || !redirectUris || method !== 'none') {
    throw badRequest('client_id is not the URL of a valid metadata document of a public client.')
  }
  return { id, name: nameOf(document['client_name'], url.host), redirectUris, publisher: url.host }
}

/** The client that asks a member of the org. Throws BAD_REQUEST for an unknown one. */
export const getClient = async (deps: AppDeps, id: string, orgId: string): Promise<AppClient> => {
  if (id.startsWith('https://')) return publishedClient(deps, id, orgId)
  const client = registeredClient(deps, id)
  if (!client) throw badRequest('client_id is unknown. The app must register again.')
  return client
}
