import { createHash } from 'node:crypto'
import type { ApiError } from '../../platform/http/errors.ts'
import type { Language } from '../../platform/text/languages.ts'
import type { PendingFlow } from './queries.ts'

const style = `
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1c1c1e; background: #f5f5f7; display: grid; min-height: 100vh; place-items: center }
main { background: #fff; border: 1px solid #d9d9de; border-radius: 12px; padding: 32px; max-width: 28rem; margin: 16px }
h1 { font-size: 1.25rem; margin: 0 0 12px }
p { margin: 0 0 16px }
button { font: inherit; font-weight: 600; color: #fff; background: #2f5bd0; border: 0; border-radius: 8px; padding: 10px 18px; cursor: pointer }
button:focus-visible { outline: 3px solid #9bb4f5; outline-offset: 2px }
@media (prefers-color-scheme: dark) { body { color: #f2f2f4; background: #161618 } main { background: #222226; border-color: #3a3a40 } }
`

// Notifies the console by both ways in which it can wait, then closes the window. Browsers close only script-opened ones.
const script = `
const { connectionId, status } = document.body.dataset
const message = { type: 'atrium.connection', connectionId, status }
if (window.opener) window.opener.postMessage(message, location.origin)
new BroadcastChannel('atrium.connections').postMessage(message)
window.close()
`

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Content-Security-Policy: only the inline style and script of these pages, and a form to this server. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  `script-src ${hashOf(script)}`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface Texts {
  connect(connector: string): string
  question(connector: string): string
  /** HTML. The values are escaped. */
  about(flow: { connector: string; user: string; email: string; org: string }): string
  notYou: string
  connected(connector: string): string
  close: string
  failed: string
  startAgain: string
  /** In place of the message of the API, which is English. */
  failures: Partial<Record<ApiError['code'], string>>
}

const texts: Record<Language, Texts> = {
  en: {
    connect: (connector) => `Connect ${connector}`,
    question: (connector) => `Connect ${connector}?`,
    about: ({ connector, user, email, org }) =>
      `Your ${connector} account will be connected for <strong>${user}</strong> (${email}) in the organisation <strong>${org}</strong>. This user and their agents will be able to use it.`,
    notYou: 'If this is not you, or if you did not start this yourself, close this page.',
    connected: (connector) => `${connector} is connected`,
    close: 'You can close this page.',
    failed: 'Not connected',
    startAgain: 'You can close this page and start again.',
    failures: {},
  },
  de: {
    connect: (connector) => `${connector} verbinden`,
    question: (connector) => `${connector} verbinden?`,
    about: ({ connector, user, email, org }) =>
      `Ihr Konto bei ${connector} wird für <strong>${user}</strong> (${email}) in der Organisation <strong>${org}</strong> verbunden. Diese Person und ihre Agenten können es dann nutzen.`,
    notYou: 'Wenn Sie das nicht sind oder dies nicht selbst begonnen haben, schließen Sie diese Seite.',
    connected: (connector) => `${connector} ist verbunden`,
    close: 'Sie können diese Seite schließen.',
    failed: 'Nicht verbunden',
    startAgain: 'Sie können diese Seite schließen und noch einmal beginnen.',
    failures: {
      BAD_REQUEST: 'Der Zugriff wurde verweigert, oder dieser Link ist ungültig oder abgelaufen.',
      CONFLICT: 'Die Verbindung wurde während der Anmeldung widerrufen oder ist abgelaufen.',
      TOO_MANY_REQUESTS: 'Zu viele Anfragen. Versuchen Sie es gleich noch einmal.',
      SERVICE_UNAVAILABLE: 'Der Anbieter antwortet gerade nicht. Versuchen Sie es später noch einmal.',
    },
  },
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character)

interface PageContent {
  language: Language
  title: string
  /** HTML. */
  body: string
  data?: Record<string, string>
  withScript?: boolean
}

const page = ({ language, title, body, data = {}, withScript = false }: PageContent): string => {
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escape(value)}"`)
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body${attributes.join('')}>
<main>
<h1>${escape(title)}</h1>
${body}
</main>
${withScript ? `<script>${script}</script>\n` : ''}</body>
</html>
`
}

/**
 * Asks for confirmation in a browser that is not signed in as the owner of the connection. An attacker could have sent
 * the authorize URL to a victim, to connect the victim's provider account to the attacker's user.
 */
export const confirmationPage = (
  language: Language,
  connectorName: string,
  { orgName, userName, email }: PendingFlow,
  { code, state, iss, action }: { code: string; state: string; iss: string | undefined; action: string },
): string => {
  const { connect, question, about, notYou } = texts[language]
  const flow = { connector: connectorName, user: userName, email, org: orgName }
  const escaped = Object.fromEntries(Object.entries(flow).map(([name, value]) => [name, escape(value)])) as typeof flow
  return page({
    language,
    title: question(connectorName),
    body: `<p>${about(escaped)}</p>
<p>${notYou}</p>
<form method="post" action="${escape(action)}">
<input type="hidden" name="code" value="${escape(code)}">
<input type="hidden" name="state" value="${escape(state)}">${
      iss === undefined ? '' : `\n<input type="hidden" name="iss" value="${escape(iss)}">`
    }
<button type="submit">${escape(connect(connectorName))}</button>
</form>`,
  })
}

export const donePage = (language: Language, connectorName: string, connectionId: string): string =>
  page({
    language,
    title: texts[language].connected(connectorName),
    body: `<p>${texts[language].close}</p>`,
    data: { 'connection-id': connectionId, status: 'active' },
    withScript: true,
  })

/** The message must not contain text from the provider, because anyone can send it to the callback. */
export const failurePage = (language: Language, { code, message }: Pick<ApiError, 'code' | 'message'>): string => {
  const { failed, startAgain, failures } = texts[language]
  return page({
    language,
    title: failed,
    body: `<p>${escape(failures[code] ?? message)}</p>\n<p>${startAgain}</p>`,
  })
}
