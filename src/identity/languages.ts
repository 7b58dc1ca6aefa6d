/** The languages of the console, as BCP 47 tags. */
export const languages = ['en', 'de'] as const

export type Language = (typeof languages)[number]
