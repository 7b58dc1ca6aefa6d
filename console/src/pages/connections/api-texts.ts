import { msg, t } from '@lingui/core/macro'
import type { ConnectorEntry } from '@atrium/client'
import { textOf } from '../../i18n/text.ts'

// The texts of the catalog of connectors, which the API has in English.
const texts = [
  msg`Any agent with the Agent2Agent protocol (A2A), by the URL of its agent card.`,
  msg`URL`,
  msg`URL of the agent card, or the base URL before /.well-known/agent-card.json`,
  msg`Bearer token`,
  msg`Header name`,
  msg`For agents that want a key in another header, for example X-API-Key`,
  msg`Header value`,
  msg`Bases, tables and records.`,
  msg`Personal access token`,
  msg`From airtable.com/create/tokens, with data.records:read, data.records:write and schema.bases:read`,
  msg`Channels and messages of the servers that a bot is in.`,
  msg`Bot token`,
  msg`From the Bot page of the application at discord.com/developers`,
  msg`Issues, pull requests, code and files of repositories.`,
  msg`Search, read, draft and send mail.`,
  msg`Files, folders and documents in Google Drive.`,
  msg`Any JSON API on the public Internet, by base URL and an authentication header.`,
  msg`Base URL`,
  msg`For example https://api.example.com/v1; agents can only access paths below it`,
  msg`For example Bearer abc123`,
  msg`Test path`,
  msg`Requested once with these credentials, which are stored if the status is 2xx`,
  msg`Contacts, companies and deals of a HubSpot account.`,
  msg`Issues and projects of a Jira Cloud site.`,
  msg`Issues, comments and teams of a Linear workspace.`,
  msg`Any MCP server by its URL (Streamable HTTP). The connection has the tools of the server.`,
  msg`For example https://mcp.example.com/mcp`,
  msg`Leave it empty for servers with sign-in (OAuth) and for servers without authentication`,
  msg`OAuth client ID`,
  msg`Only if the server asks for sign-in and does not register clients itself`,
  msg`OAuth client secret`,
  msg`Pages and databases of a Notion workspace.`,
  msg`Channels, threads and messages of a Slack workspace.`,
  msg`Customers, payments, invoices and subscriptions of the org's own Stripe account.`,
  msg`Secret or restricted key`,
  msg`sk_… or rk_…; a restricted key must be able to read the account`,
  msg`A Telegram bot: messages to people, groups and channels.`,
  msg`From @BotFather`,
  msg`Text messages and the phone numbers of a Twilio account.`,
  msg`Account SID`,
  msg`AC…`,
  msg`Auth token`,
  msg`Also verifies the signatures of Twilio webhooks`,
  msg`Pages and data on the public web. Needs no account.`,
]

const byText = new Map(texts.map((one) => [one.message, one]))

/** A text of the API in the language of the console, or as it is when this version of the console does not know it. */
export const apiText = (text: string): string => textOf(byText.get(text) ?? text)

/** Why a connector cannot be used. */
export const unavailableText = ({ setup, availabilityReason }: ConnectorEntry): string =>
  setup === undefined
    ? (availabilityReason ?? t`Not available on this server.`)
    : t`${setup.variables.join(', ')} are not set on this server.`
