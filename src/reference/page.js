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

// This file is loaded first, so that the policy exists when the viewer is loaded.
addEventListener('DOMContentLoaded', () => {
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
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  })
})
