/** What usage is counted in, so that a call of a fraction of a cent is charged exactly. */
export const microcentsPerCent = 10_000n

/** Division that rounds up: what is charged is never less than what it costs. */
export const ceilDiv = (value: bigint, by: bigint): bigint => (value + by - 1n) / by

/** Whole cents of an amount of microcents; the rest is carried on, so this is the one place that cuts it off. */
export const wholeCents = (microcents: bigint): number => Number(microcents / microcentsPerCent)
