import { t } from '@lingui/core/macro'
// The first that matches counts: most browsers also name those that they are compatible with.
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  // Not at the start of a word only: HeadlessChrome.
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: readonly (readonly [RegExp, string])[] = [
  [/\bWindows\b/, 'Windows'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

const nameIn = (names: typeof browsers, text: string): string | undefined =>
  names.find(([pattern]) => pattern.test(text))?.[1]

/** `Mozilla/5.0 (X11; Linux x86_64; rv:145.0) … Firefox/145.0` gives "Firefox on Linux". */
export const browserName = (userAgent: string | null): string => {
  const text = userAgent ?? ''
  const [browser, system] = [nameIn(browsers, text), nameIn(systems, text)]
  if (browser === undefined) return system === undefined ? t`Unknown browser` : t`Unknown browser on ${system}`
  return system === undefined ? browser : t`${browser} on ${system}`
}
