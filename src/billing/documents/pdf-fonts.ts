import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The weights that documents use. */
export type Weight = 400 | 600

// Noto Sans comes in one file per script. Each is loaded when a text has characters of it.
const subsets = ['latin', 'latin-ext', 'greek', 'cyrillic', 'vietnamese', 'cyrillic-ext', 'greek-ext'] as const
type Subset = (typeof subsets)[number]

const fileOf = (name: string): string => fileURLToPath(import.meta.resolve(`@fontsource/noto-sans/${name}`))

const parseRange = (range: string): [from: number, to: number] => {
  const [from = '0', to = from] = range.slice(2).split('-')
  return [Number.parseInt(from, 16), Number.parseInt(to, 16)]
}

const declared = JSON.parse(readFileSync(fileOf('unicode.json'), 'utf8')) as Record<Subset, string>
const ranges = subsets.map((subset) => ({ subset, ranges: declared[subset].split(',').map(parseRange) }))

const known = new Map<number, Subset | undefined>()

const subsetOf = (codePoint: number): Subset | undefined => {
  if (!known.has(codePoint)) {
    const found = ranges.find((one) => one.ranges.some(([from, to]) => codePoint >= from && codePoint <= to))
    known.set(codePoint, found?.subset)
  }
  return known.get(codePoint)
}

/** A part of a text in one font. */
export interface Run {
  font: string
  text: string
}

const replacement = '\uFFFD'

/**
 * Splits a text by font. Characters that no font has, such as emoji, Chinese and Arabic, become U+FFFD; several in a row
 * become one. Marks stay with the letter before them if a composed letter exists.
 */
export const runsOf = (text: string, weight: Weight): Run[] => {
  const runs: Run[] = []
  for (const character of text.normalize('NFC')) {
    const subset = subsetOf(character.codePointAt(0) ?? 0)
    const font = `${subset ?? 'latin'}-${weight}`
    const shown = subset === undefined ? replacement : character
    const last = runs.at(-1)
    if (last?.font !== font) runs.push({ font, text: shown })
    else if (shown !== replacement || !last.text.endsWith(replacement)) last.text += shown
  }
  return runs
}

/** The file of a font, WOFF. */
export const readFont = (font: string): Buffer => readFileSync(fileOf(`files/noto-sans-${font}-normal.woff`))
