import type { Actor } from '../../identity/actor.ts'
import { audit } from '../../identity/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { connectorToComplete, getConnection } from './connections.ts'
import { sealSecrets } from './secrets.ts'
import type { Secrets } from './secrets.ts'
import type { ApiKey, Connector, CredentialField } from '../catalog/definition.ts'
import { lookAtServer } from '../mcp/mcp.ts'
import { callProvider, checkAuthHeaders, ProviderError, settingsOf } from './provider.ts'
import type { Access } from './provider.ts'
import * as queries from '../queries.ts'
import type { ConnectionRow } from '../queries.ts'
import type { AccessDeps } from '../oauth/refresh.ts'
import { textAt } from './templates.ts'

const printable = /^[^\p{Cc}]*$/u

const valueOf = (field: CredentialField, given: Secrets): string | undefined => {
  const value = given[field.key]?.trim() ?? ''
  if (value === '') {
    if (field.required) throw badRequest(`credentials.${field.key} is required`)
    return field.fallback
  }
  if (!printable.test(value)) throw badRequest(`credentials.${field.key} must be one line of text`)
  return value
}

/** What was sent, as the connector asks for it: all that is required, nothing that it does not know. */
const readFields = ({ fields }: ApiKey, given: Secrets): Secrets => {
  const known = fields.map(({ key }) => key)
  // Not repeated: whatever it is, it may be a secret.
  if (Object.keys(given).some((key) => !known.includes(key))) {
    throw badRequest(`credentials takes ${known.join(', ')} and nothing else`)
  }
  const entries = fields.map((field) => [field.key, valueOf(field, given)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Secrets
}

/** A URL that a person names as the provider's place: a plain one, that requests may go to. */
const checkPlace = async (deps: AccessDeps, { orgId, connector, secrets }: Access): Promise<void> => {
  const field = connector.api.baseUrlField
  if (field === undefined) return
  const url = URL.parse(secrets[field] ?? '')
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.hash !== '') {
    throw badRequest(`credentials.${field} must be an http or https URL without a user or a fragment`)
  }
  if (url.search !== '' && connector.isMcp !== true) throw badRequest(`credentials.${field} must have no query`)
  if (settingsOf(deps, connector).baseUrl === undefined) await deps.outbound.checkUrl(url.href, { orgId })
}

interface Verdict {
  accountId: string | null
  accountName: string | null
  pinnedTools?: string
}

/** Asks the provider whether it takes the credentials, and whose they are. */
const ask = async (deps: AccessDeps, access: Access, { check }: ApiKey): Promise<Verdict> => {
  const { connector, secrets } = access
  if (connector.isMcp) {
    const { serverName, pin } = await lookAtServer(deps, access)
    return { accountId: null, accountName: serverName, pinnedTools: JSON.stringify(pin) }
  }
  const nobody = { accountId: null, accountName: null }
  if (!check || check.from === 'token' || (check.when !== undefined && !secrets[check.when])) return nobody
  const { body } = await callProvider(deps, access, check.from, { input: secrets })
  const accountId = textAt(body, check.id)
  if (check.id !== undefined && accountId === null) {
    throw new ProviderError('refused', `${connector.name} did not say whose credentials these are.`)
  }
  return { accountId, accountName: textAt(body, check.name) }
}

const verdictOf = async (deps: AccessDeps, access: Access, auth: ApiKey): Promise<Verdict> => {
  try {
    return await ask(deps, access, auth)
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure === 'unavailable') throw error
    throw badRequest(`${access.connector.name} did not accept the credentials. ${error.message}`, { cause: error })
  }
}

const keyAuthOf = (connector: Connector): ApiKey => {
  if (connector.auth.type !== 'api_key') throw badRequest(`${connector.name} takes no credentials.`)
  return connector.auth
}

/**
 * Completes or repairs a connection with credentials that the provider accepts. BAD_REQUEST for what is missing, unknown
 * or not accepted, SERVICE_UNAVAILABLE when the provider could not be asked: then everything stays as it was.
 */
export const submitCredentials = async (
  db: Database,
  deps: AccessDeps,
  actor: Actor,
  id: string,
  given: Secrets,
): Promise<ConnectionRow> => {
  const connector = connectorToComplete(deps, await getConnection(db, actor, id))
  const auth = keyAuthOf(connector)
  const secrets = readFields(auth, given)
  const access = { orgId: actor.orgId, connector, secrets, accountId: null }
  checkAuthHeaders(access)
  await checkPlace(deps, access)
  const verdict = await verdictOf(deps, access, auth)
  return db.transaction(actor, async (db) => {
    const sealed = sealSecrets(deps.secrets, { orgId: actor.orgId, id }, secrets)
    const connection = await queries.activate(db, actor.orgId, id, { secrets: sealed, scopes: [], ...verdict })
    if (!connection) throw notFound('Connection')
    const details = { connector: connector.slug, account: verdict.accountName }
    await audit(db, actor, 'connection.connected', { type: 'connection', id }, details)
    return connection
  })
}
