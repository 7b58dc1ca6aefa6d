/** Usage is counted in microcents, so that a call that costs a fraction of a cent is charged exactly. */
export const microcentsPerCent = 10_000n

/** Division that rounds up, so that a charge is never less than the cost. */
export const ceilDiv = (value: bigint, by: bigint): bigint => (value + by - 1n) / by

/** Whole cents of an amount of microcents. The only place that rounds for display; the ledger carries the remainder. */
export const wholeCents = (microcents: bigint): number => Number(microcents / microcentsPerCent)
