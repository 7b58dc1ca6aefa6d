import { randomBytes } from 'node:crypto'

/** Latin spellings of letters that NFKD does not decompose. */
const spellings = new Map(
  [
    'ßss æae œoe øo đd ðd þth łl ħh ıi ŋn ŧt',
    'аa бb вv гg ґg дd ђdj еe єye жzh зz иi іi јj кk лl љlj мm нn њnj оo пp рr сs тt ћc уu фf хkh цts чch џdz шsh',
    'щshch ъ ыy ь эe юyu яya',
    'αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo',
  ].flatMap((line) => line.split(' ').map((pair) => [pair.charAt(0), pair.slice(1)] as const)),
)

const marks = /\p{M}/gu
const maxLength = 63

/**
 * Converts a name to a slug of `[a-z0-9-]` with at most 63 characters: without accents, and with Cyrillic and Greek in
 * Latin letters. Names of other scripts and emoji become `fallback`.
 */
export const slugOf = (name: string, fallback: string): string => {
  const plain = name.normalize('NFKD').toLowerCase().replaceAll(marks, '')
  const latin = Array.from(plain, (letter) => spellings.get(letter) ?? letter).join('')
  const slug = latin
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxLength)
    .replaceAll(/^-+|-+$/g, '')
  return slug === '' ? fallback : slug
}

/** The slug with six random characters, which say nothing about other slugs. */
export const randomSlug = (slug: string): string =>
  `${slug.slice(0, maxLength - 7).replace(/-+$/, '')}-${randomBytes(3).toString('hex')}`

/** The slug, or the first of `-2`, `-3`, … that is free. */
export const freeSlug = (slug: string, taken: ReadonlySet<string>): string => {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? '' : `-${number}`
    const candidate = slug.slice(0, maxLength - suffix.length).replace(/-+$/, '') + suffix
    if (!taken.has(candidate)) return candidate
  }
}
