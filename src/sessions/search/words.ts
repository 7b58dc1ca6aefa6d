import type { MessagePart } from '../schemas.ts'

/** The same characters as in `search_words` (migration 0048), and control characters, which no stored text contains. */
const separators = /[\s\p{Cc}!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~„“”‘’«»–—…·•]+/u

const maxWords = 8
/** Longer words are stored without their end. */
const maxWordLength = 64

const cut = (word: string): string => (word.length <= maxWordLength ? word : [...word].slice(0, maxWordLength).join(''))

const prefixOf = (orgId: string): string => orgId.slice(-12)

/** The words of a query in lower case: at most eight. */
export const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(separators)
    .filter((word) => word !== '')
    .slice(0, maxWords)
    .map(cut)

/** Words of a message beyond these are not found, because each costs an entry in the index. */
const maxMessageWords = 500
const maxMessageText = 20_000

/**
 * The words of the text of a message as a tsvector, without reasoning and tool calls: the first 500 different ones of its
 * first 20,000 characters. Each begins with the end of the org's id, as those of `search_words` (migration 0048) do.
 */
export const messageWords = (orgId: string, parts: readonly MessagePart[]): string => {
  let text = ''
  for (const part of parts) if (part.type === 'text' && text.length < maxMessageText) text += `${part.text}\n`
  const words = new Set<string>()
  for (const word of text.slice(0, maxMessageText).toWellFormed().toLowerCase().split(separators)) {
    if (word !== '') words.add(cut(word))
    if (words.size === maxMessageWords) break
  }
  // Separators include all characters that have a meaning in a tsvector.
  return Array.from(words, (word) => `'${prefixOf(orgId)}${word}'`).join(' ')
}

/** A tsquery for the texts of an org that contain a word with each of these beginnings. */
export const queryOf = (orgId: string, words: readonly string[]): string =>
  words.map((word) => `'${prefixOf(orgId)}${word}':*`).join(' & ')

const before = 40
const maxExcerpt = 160

/** The beginning of a word at most 40 characters before a place. */
const startOfWord = (line: string, place: number): number => {
  const space = line.indexOf(' ', place - before)
  return space < 0 || space >= place ? place : space + 1
}

/** The part of a text around the first of these words, on one line, at most 160 characters and ellipses. */
export const excerptOf = (text: string, words: readonly string[]): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  const lower = line.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0)
  const first = Math.min(...places, lower.length)
  const start = first <= before || places.length === 0 ? 0 : startOfWord(line, first)
  const part = line.slice(start, start + maxExcerpt).toWellFormed()
  return `${start > 0 ? '…' : ''}${part.trim()}${start + maxExcerpt < line.length ? '…' : ''}`
}
