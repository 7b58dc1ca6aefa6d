import { createHash } from 'node:crypto'
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

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character)

const page = (title: string, body: string, data: Record<string, string> = {}, withScript = false): string => {
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escape(value)}"`)
  return `<!doctype html>
<html lang="en">
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
  connectorName: string,
  { orgName, userName, email }: PendingFlow,
  { code, state, iss, action }: { code: string; state: string; iss: string | undefined; action: string },
): string =>
  page(
    `Connect ${connectorName}?`,
    `<p>Your ${escape(connectorName)} account will be connected for <strong>${escape(userName)}</strong> (${escape(email)}) in the organisation <strong>${escape(orgName)}</strong>. This user and their agents will be able to use it.</p>
<p>If this is not you, or if you did not start this yourself, close this page.</p>
<form method="post" action="${escape(action)}">
<input type="hidden" name="code" value="${escape(code)}">
<input type="hidden" name="state" value="${escape(state)}">${
      iss === undefined ? '' : `\n<input type="hidden" name="iss" value="${escape(iss)}">`
    }
<button type="submit">Connect ${escape(connectorName)}</button>
</form>`,
  )

export const donePage = (connectorName: string, connectionId: string): string =>
  page(
    `${connectorName} is connected`,
    '<p>You can close this page.</p>',
    { 'connection-id': connectionId, status: 'active' },
    true,
  )

/** `message` must not contain text from the provider, because anyone can send it to the callback. */
export const failurePage = (message: string): string =>
  page('Not connected', `<p>${escape(message)}</p>\n<p>You can close this page and start again.</p>`)
