/** The languages of the console, as BCP 47 tags. */
export const languages = ['en', 'de'] as const

export type Language = (typeof languages)[number]

/** The language of the header `Accept-Language` that a person prefers among `languages`; English without one. */
export const preferredLanguage = (header: string | undefined): Language => {
  let best: { language: Language; weight: number } | undefined
  // Browsers send a few languages; a longer list is not read to its end.
  for (const part of (header ?? '').slice(0, 500).split(',').slice(0, 20)) {
    const [tag = '', ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/)
    const weight = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1)
    const language = languages.find((one) => one === tag.split('-', 1)[0])
    if (language !== undefined && weight > (best?.weight ?? 0)) best = { language, weight }
  }
  return best?.language ?? 'en'
}
