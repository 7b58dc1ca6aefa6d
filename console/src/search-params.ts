import { useEffect, useState } from 'react'
import { useStableCallback } from './stable-values.ts'

/**
 * The parameters of the URL. A page that is about to be rendered with a new URL still has the old ones: a change that is
 * based on those would undo the one before it.
 */
export const currentParams = (): URLSearchParams => new URLSearchParams(window.location.search)

/** A copy of URL parameters with `patch` applied; empty and undefined values are removed. */
export const withParams = (params: URLSearchParams, patch: Record<string, string | undefined>): URLSearchParams => {
  const next = new URLSearchParams(params)
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined || value === '') next.delete(name)
    else next.set(name, value)
  }
  return next
}

const searchAfterMs = 180

/**
 * The text of a field and its setter. `onSearch` is called a moment after the last key and puts the text into the URL, of
 * which `search` is the rendered value. The text follows the URL when something else changes it, such as Back or a link.
 */
export const useSearchText = (search: string, onSearch: (text: string) => void) => {
  const [text, setText] = useState(search)
  const [lastSearch, setLastSearch] = useState(search)
  // Searches of this field that are not rendered yet. More may have been typed until they are.
  const [pending, setPending] = useState<readonly string[]>([])
  if (lastSearch !== search) {
    setLastSearch(search)
    const at = pending.lastIndexOf(search)
    setPending(at < 0 ? [] : pending.slice(at + 1))
    if (at < 0 && text.trim() !== search) setText(search)
  }
  const send = useStableCallback((value: string) => {
    setPending([...pending, value])
    onSearch(value)
  })
  useEffect(() => {
    if (text.trim() === search) return undefined
    const timer = setTimeout(() => send(text.trim()), searchAfterMs)
    return () => clearTimeout(timer)
  }, [text, search, send])
  return [text, setText] as const
}
