/** The length of the longest end of `text` with which a stop sequence could begin. */
const heldLength = (text: string, sequences: readonly string[]): number => {
  const most = Math.min(text.length, Math.max(...sequences.map(({ length }) => length)) - 1)
  for (let length = most; length > 0; length--) {
    const end = text.slice(-length)
    if (sequences.some((sequence) => sequence.startsWith(end))) return length
  }
  return 0
}

/** Cuts a text that arrives in pieces before the first stop sequence. */
export interface StopFilter {
  /** Returns what of the text so far can be shown. */
  add(piece: string): string
  /** Returns the rest of a text that ended without a stop sequence. */
  end(): string
  readonly isStopped: boolean
}

/** Providers may ignore stop sequences, or stop late. What could become one is held back until it is known. */
export const createStopFilter = (sequences: readonly string[]): StopFilter => {
  let held = ''
  let isStopped = false
  return {
    get isStopped() {
      return isStopped
    },
    add: (piece) => {
      if (isStopped) return ''
      const text = held + piece
      const found = sequences.map((sequence) => text.indexOf(sequence)).filter((at) => at !== -1)
      isStopped = found.length > 0
      const shown = isStopped ? Math.min(...found) : text.length - heldLength(text, sequences)
      held = isStopped ? '' : text.slice(shown)
      return text.slice(0, shown)
    },
    end: () => {
      const rest = held
      held = ''
      return rest
    },
  }
}
