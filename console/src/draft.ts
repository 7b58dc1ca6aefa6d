import { useState } from 'react'

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** `draft` with the fields of `next` that were not edited since `before`. */
const rebase = <D extends object>(draft: D, before: D, next: D): D => {
  const edited = Object.entries(draft).filter(([name, value]) => !isSame(value, before[name as keyof D]))
  return { ...next, ...Object.fromEntries(edited) }
}

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
  }
}
