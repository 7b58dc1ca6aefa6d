/* global Scalar, trustedTypes */
// The viewer writes text to innerHTML itself only to decode one character reference and to empty an element. Everything
// else that it draws goes through the policy of Vue.
const isHarmless = (text) => text === '' || /^&#?[A-Za-z0-9]{1,40};$/.test(text)
if (typeof trustedTypes !== 'undefined') {
  trustedTypes.createPolicy('default', { createHTML: (text) => (isHarmless(text) ? text : null) })
}

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
