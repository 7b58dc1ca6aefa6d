/** What usage is counted in, so that a call of a fraction of a cent is charged exactly. */
export const microcentsPerCent = 10_000n

/** Whole cents of an amount of microcents; the rest is carried on, so this is the one place that cuts it off. */
export const wholeCents = (microcents: bigint): number => Number(microcents / microcentsPerCent)
