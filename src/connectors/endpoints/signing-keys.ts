import { catalog } from '../catalog/catalog.ts'
import { providerUrl } from '../connections/access.ts'
import type { ProviderDeps } from '../deps.ts'
import type { FetchDocument } from '../../providers/google-token.ts'

const timeoutMs = 5_000
const maxBytes = 262_144

/** Fetches Google's signing keys, from CONNECTOR_GMAIL_BASE_URL if the operator has set it. */
export const createKeyFetch =
  (deps: ProviderDeps): FetchDocument =>
  async (url) => {
    const gmail = catalog.get('gmail')
    const target = gmail ? providerUrl(deps, gmail, url) : { url: new URL(url), trusted: false }
    return deps.outbound.request(target.url, { trusted: target.trusted, timeoutMs, maxBytes })
  }
