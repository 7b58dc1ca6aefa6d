/** `12.5` → 1250 cents; undefined when it is not an amount. */
export const centsOf = (text: string): number | undefined => {
  const clean = text.trim().replace(/^\$/, '').replaceAll(',', '')
  if (!/^\d+(?:\.\d{1,2})?$/.test(clean)) return undefined
  return Math.round(Number(clean) * 100)
}

/** 1250 cents → `12.50`, as a field shows it. */
export const dollarsOf = (cents: number): string => (cents / 100).toFixed(2)

/** Why an amount cannot be taken, from `leastCents` on. */
export const amountProblem = (text: string, leastCents: number, mostCents: number): string | undefined => {
  const cents = centsOf(text)
  if (cents === undefined) return 'Type an amount in dollars, such as 25 or 25.50.'
  if (cents < leastCents || cents > mostCents)
    return `An amount is from $${dollarsOf(leastCents)} to $${dollarsOf(mostCents)}.`
  return undefined
}

/** As good as no limit. */
export const anyAmount = 99_999_999
