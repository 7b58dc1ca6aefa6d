/** Numbers of turns as an int4multirange of PostgreSQL, in its canonical form: `{[1,3),[5,6)}` is 1, 2 and 5. */
export type Skipped = string

const rangesOf = (skipped: Skipped | null): [from: number, to: number][] =>
  [...(skipped ?? '').matchAll(/\[(\d+),(\d+)\)/g)].map(([, from, to]) => [Number(from), Number(to)])

/** `skipped`, whose numbers are all smaller than `from`, with `from` and the numbers after it that are smaller than `to`. */
export const skipFrom = (skipped: Skipped | null, from: number, to: number): Skipped | null => {
  if (from >= to) return skipped
  const ranges = rangesOf(skipped)
  const last = ranges.at(-1)
  if (last?.[1] === from) last[1] = to
  else ranges.push([from, to])
  return `{${ranges.map((range) => `[${range.join(',')})`).join(',')}}`
}

export const isSkipped = (skipped: Skipped | null, number: number): boolean =>
  rangesOf(skipped).some(([from, to]) => from <= number && number < to)

/** How many of the skipped numbers are smaller than `number`. */
export const countSkipped = (skipped: Skipped | null, number: number): number =>
  rangesOf(skipped).reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, number) - from), 0)

export const countRanges = (skipped: Skipped | null): number => rangesOf(skipped).length
