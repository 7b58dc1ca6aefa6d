/** The time zones that the browser knows, and the one that is chosen already. */
export const timeZones = (chosen: string | null): string[] => {
  const known = Intl.supportedValuesOf('timeZone')
  return chosen === null || known.includes(chosen) ? known : [chosen, ...known]
}
