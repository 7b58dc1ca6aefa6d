import { useState } from 'react'

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The fields of a draft that differ from what is stored: saving the others could revert a change of somebody else. */
export const changesOf = <D extends object>(draft: D, stored: D): Partial<D> =>
  Object.fromEntries(
    Object.entries(draft).filter(([name, value]) => !isSame(value, stored[name as keyof D])),
  ) as Partial<D>

export const isEmpty = (changes: object): boolean => Object.keys(changes).length === 0

/** `draft` with the fields of `next` that were not edited since `before`. */
const rebase = <D extends object>(draft: D, before: D, next: D): D => ({ ...next, ...changesOf(draft, before) })

/**
 * The fields of a form that edits a stored record. When somebody else changes the record meanwhile, fields that were not
 * edited here take the new value, so that saving the others does not revert it.
 */
export const useDraft = <T, D extends object>(stored: T, draftOf: (stored: T) => D) => {
  const [known, setKnown] = useState(() => ({ stored, draft: draftOf(stored) }))
  const current =
    known.stored === stored ? known : { stored, draft: rebase(known.draft, draftOf(known.stored), draftOf(stored)) }
  if (current !== known) setKnown(current)
  return {
    draft: current.draft,
    change: (patch: Partial<D>): void => setKnown((now) => ({ ...now, draft: { ...now.draft, ...patch } })),
    reset: (draft: D): void => setKnown((now) => ({ ...now, draft })),
    /** The draft of this rendering was saved, and the record is `next`. What was edited in the meantime stays. */
    saved: (next: D): void => setKnown((now) => ({ ...now, draft: rebase(now.draft, current.draft, next) })),
  }
}
