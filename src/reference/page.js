/* global Scalar, trustedTypes */
// The viewer writes text to innerHTML itself only to decode one character reference and to empty an element. Everything
// else that it draws goes through the policy of Vue.
const isHarmless = (text) => text === '' || /^&#?[A-Za-z0-9]{1,40};$/.test(text)
// A library in it tries whether it may evaluate an empty function, and does without. script-src answers that already.
const isEmptyFunction = (text) => /^\(function anonymous\(\s*\) \{\s*\}\)$/.test(text)
if (typeof trustedTypes !== 'undefined') {
  trustedTypes.createPolicy('default', {
    createHTML: (text) => (isHarmless(text) ? text : null),
    createScript: (text) => (isEmptyFunction(text) ? text : null),
  })
}

// This file goes first, so that the policy is there when the viewer is loaded.
addEventListener('DOMContentLoaded', () => {
  // Everything that would leave this server is off: fonts, proxy, telemetry, the hosted assistant and client.
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
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  })
})
