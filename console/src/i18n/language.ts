// The language of the console: the one that the person chose, else that of the browser, else English.
import { i18n } from '@lingui/core'
import type { Messages } from '@lingui/core'
import { compileMessage } from './compile-message.ts'
import type { CompiledMessage } from '@lingui/message-utils/compileMessage'
import { importWithRetry } from '../load-page.ts'

export type Language = 'en' | 'de'

/** Each language in its own words, as a person looks for it. */
export const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch' }

const key = 'atrium.language'

const isLanguage = (value: unknown): value is Language => value === 'en' || value === 'de'

const languageOf = (tag: string): string => tag.split('-', 1)[0]?.toLowerCase() ?? ''

const browserLanguage = (): Language => navigator.languages.map(languageOf).find(isLanguage) ?? 'en'

/** Null: that of the browser. */
const storedLanguage = (): Language | null => {
  try {
    const stored = localStorage.getItem(key)
    return isLanguage(stored) ? stored : null
  } catch {
    return null
  }
}

interface Catalog {
  messages: Messages
  /** A text of the API, which is English. Undefined for one without a translation. */
  translateApiText: (text: string) => string | undefined
}

const catalogs: Record<Language, () => Promise<Catalog>> = {
  // English messages are in the source.
  en: async () => ({ messages: {}, translateApiText: (text) => text }),
  de: () => importWithRetry(() => import('./german.ts')),
}

let catalog: Catalog | undefined

/** A text of the API in the language of the console. Undefined for one without a translation. */
export const translatedApiText = (text: string): string | undefined => (catalog ? catalog.translateApiText(text) : text)

/** A text of the API in the language of the console, or as it is when this version of the console does not know it. */
export const apiText = (text: string): string => translatedApiText(text) ?? text

const compiled = new Map<string, CompiledMessage>()

i18n.setMessagesCompiler((message) => {
  let result = compiled.get(message)
  if (result === undefined) {
    result = compileMessage(message)
    compiled.set(message, result)
  }
  return result
})

const activate = (language: Language, next: Catalog): void => {
  catalog = next
  i18n.loadAndActivate({ locale: language, messages: next.messages })
  document.documentElement.lang = language
}

let wanted: Language | undefined

const show = async (language: Language): Promise<void> => {
  if (language === wanted) return
  wanted = language
  const next = await catalogs[language]().catch((error: unknown) => {
    if (wanted === language) wanted = undefined
    throw error
  })
  // Another language can be chosen while this one loads.
  if (wanted === language) activate(language, next)
}

/** Before the first page is shown. English when the catalogue cannot be loaded. */
export const startLanguage = async (): Promise<void> => {
  await show(storedLanguage() ?? browserLanguage()).catch(() => show('en'))
}

/** Shows the language, now and after a reload. Null: that of the browser. Rejects when it cannot be loaded. */
export const setLanguage = async (language: Language | null): Promise<void> => {
  await show(language ?? browserLanguage())
  try {
    if (language === null) localStorage.removeItem(key)
    else localStorage.setItem(key, language)
  } catch {
    // Without storage, the sign-in page has the language of the browser.
  }
}

// Browsers on systems with an unusual locale announce tags that `Intl` rejects, such as `en-US@posix`.
const isValidTag = (tag: string): boolean => {
  try {
    return Intl.getCanonicalLocales(tag).length > 0
  } catch {
    return false
  }
}

/** The language with the region of the browser, as in `en-GB`, for dates and numbers. */
export const formatLocale = (): string =>
  navigator.languages.find((tag) => languageOf(tag) === i18n.locale && isValidTag(tag)) ?? i18n.locale
