/* global Scalar, trustedTypes */
// The viewer assigns text to innerHTML only to decode a character reference and to empty an element. All other rendering
// uses Vue's policy.
const isHarmless = (text) => text === '' || /^&#?[A-Za-z0-9]{1,40};$/.test(text)
// A library of the viewer tests whether it may evaluate an empty function. script-src prevents that in any case.
const isEmptyFunction = (text) => /^\(function anonymous\(\s*\) \{\s*\}\)$/.test(text)
if (typeof trustedTypes !== 'undefined') {
  trustedTypes.createPolicy('default', {
    createHTML: (text) => (isHarmless(text) ? text : null),
    createScript: (text) => (isEmptyFunction(text) ? text : null),
  })
}

// The colours of the viewer with a contrast of at least 4.5 on each of its backgrounds (WCAG 1.4.3).
const colours = `
  .light-mode {
    --scalar-color-2: #616161; --scalar-color-3: #686868; --scalar-color-green: #00704a; --scalar-color-blue: #0062a3;
    --scalar-color-orange: #ad3c00; --scalar-color-red: #c2000d; --scalar-color-yellow: #775a00;
  }
  .dark-mode {
    --scalar-color-3: #a0a0a0; --scalar-color-red: #ff7b76; --scalar-color-purple: #b79af8;
  }`

// The viewer gives some buttons no name or one without their text, all examples the same name, and has lists that scroll and cannot get the focus.
const complete = () => {
  for (const button of document.querySelectorAll('button[class*="copy-button"]:not([aria-label])')) {
    button.setAttribute('aria-label', 'Copy')
  }
  for (const button of document.querySelectorAll('button.show-more[aria-label]')) {
    const text = button.textContent.trim()
    if (!button.ariaLabel.startsWith(text)) button.ariaLabel = `${text}: ${button.ariaLabel}`
  }
  for (const card of document.querySelectorAll('.response-card[role="region"][aria-labelledby]')) {
    const heading = card.closest('section')?.querySelector('h2, h3')
    if (!heading) continue
    card.removeAttribute('aria-labelledby')
    card.ariaLabel = `${heading.textContent.trim()}: example responses`
  }
  for (const list of document.querySelectorAll('ul.endpoints:not([tabindex])')) list.tabIndex = 0
}
let isPlanned = false
const observer = new MutationObserver(() => {
  if (isPlanned) return
  isPlanned = true
  requestAnimationFrame(() => {
    isPlanned = false
    complete()
  })
})

// This file is loaded first, so that the policy exists when the viewer is loaded.
addEventListener('DOMContentLoaded', () => {
  observer.observe(document.body, { childList: true, subtree: true })
  // Features that request other hosts are off: fonts, proxy, telemetry, the hosted assistant and client.
  Scalar.createApiReference('#reference', {
    url: '/openapi.json',
    withDefaultFonts: false,
    proxyUrl: '',
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    documentDownloadType: 'direct',
    customCss: colours,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  })
})
