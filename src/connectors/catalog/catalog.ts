import type { Connector } from './definition.ts'
import { connector as a2a } from './definitions/a2a.ts'
import { connector as airtable } from './definitions/airtable.ts'
import { connector as discord } from './definitions/discord.ts'
import { connector as github } from './definitions/github.ts'
import { connector as gmail } from './definitions/gmail.ts'
import { connector as googleDrive } from './definitions/google-drive.ts'
import { connector as http } from './definitions/http.ts'
import { connector as hubspot } from './definitions/hubspot.ts'
import { connector as jira } from './definitions/jira.ts'
import { connector as linear } from './definitions/linear.ts'
import { connector as mcp } from './definitions/mcp.ts'
import { connector as notion } from './definitions/notion.ts'
import { connector as slack } from './definitions/slack.ts'
import { connector as stripe } from './definitions/stripe.ts'
import { connector as telegram } from './definitions/telegram.ts'
import { connector as twilio } from './definitions/twilio.ts'
import { connector as web } from './definitions/web.ts'

/** Every file in `definitions/`, in the order in which `GET /connectors` lists them. */
const connectors: readonly Connector[] = [
  a2a,
  airtable,
  discord,
  github,
  gmail,
  googleDrive,
  http,
  hubspot,
  jira,
  linear,
  mcp,
  notion,
  slack,
  stripe,
  telegram,
  twilio,
  web,
]

/** All connectors by slug. */
export const catalog: ReadonlyMap<string, Connector> = new Map(
  connectors.map((connector) => [connector.slug, connector]),
)

/** Throws when a definition is invalid or two share a slug. The server does not start then. */
export const checkCatalog = async (): Promise<void> => {
  // Loaded only here, so that commands that read the catalog do not load the schema compiler.
  const { checkConnector } = await import('./check-connector.ts')
  for (const connector of connectors) checkConnector(connector)
  if (catalog.size < connectors.length)
    throw new Error('src/connectors/catalog/catalog.ts: two connectors share a slug')
}
