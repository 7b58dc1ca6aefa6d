/** `12.5` → 1250 cents; undefined when it is not an amount. */
export const centsOf = (text: string): number | undefined => {
  const clean = text.trim().replace(/^\$/, '').replaceAll(',', '')
  if (!/^\d+(?:\.\d{1,2})?$/.test(clean)) return undefined
  return Math.round(Number(clean) * 100)
}

/** 1250 cents → `12.50`, as a field shows it. */
export const dollarsOf = (cents: number): string => (cents / 100).toFixed(2)

/** Why an amount is invalid; undefined when it is from `leastCents` to `mostCents`. */
export const amountProblem = (text: string, leastCents: number, mostCents: number): string | undefined => {
  const cents = centsOf(text)
  if (cents === undefined) return 'Enter an amount in US dollars, such as 25 or 25.50.'
  if (cents < leastCents || cents > mostCents)
    return `Enter an amount from $${dollarsOf(leastCents)} to $${dollarsOf(mostCents)}.`
  return undefined
}

/** The maximum for amounts without a limit of their own: $999,999.99. */
export const anyAmount = 99_999_999
