// The org and workspace of this tab, kept per tab in sessionStorage; a new tab starts with the last one chosen.
// A link can name another (`?org=…&workspace=…`), which the person must confirm.
import { useSyncExternalStore } from 'react'

export interface Scope {
  orgId: string | undefined
  workspaceId: string | undefined
}

const key = 'atrium.scope'
const listeners = new Set<() => void>()

const read = (): Scope => {
  try {
    const text = sessionStorage.getItem(key) ?? localStorage.getItem(key)
    const { orgId, workspaceId } = JSON.parse(text ?? '{}') as Partial<Scope>
    return { orgId, workspaceId }
  } catch {
    return { orgId: undefined, workspaceId: undefined }
  }
}

let current = read()

export const scope = (): Scope => current

export const setScope = (next: Scope): void => {
  current = next
  try {
    const text = JSON.stringify(next)
    sessionStorage.setItem(key, text)
    localStorage.setItem(key, text)
  } catch {
    // Without storage the scope lasts until the tab is reloaded.
  }
  for (const listener of listeners) listener()
}

export const useScope = (): Scope =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, scope)

interface ScopeRequest {
  orgId: string
  workspaceId: string | undefined
}

let request: ScopeRequest | undefined

/** The org that a link named when it is not the org of this tab. */
export const useScopeRequest = (): ScopeRequest | undefined =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => request,
  )

export const dismissScopeRequest = (): void => {
  request = undefined
  for (const listener of listeners) listener()
}

/**
 * Reads `org` and `workspace` from the URL before the first render and removes them. Another org becomes a request that
 * the person confirms: otherwise an attacker's link could make somebody work in an org of the attacker's choice.
 */
export const readScopeFromUrl = (): void => {
  const url = new URL(location.href)
  const orgId = url.searchParams.get('org')
  if (orgId === null) return
  const workspaceId = url.searchParams.get('workspace') ?? undefined
  if (orgId === current.orgId) setScope({ orgId, workspaceId: workspaceId ?? current.workspaceId })
  else request = { orgId, workspaceId }
  url.searchParams.delete('org')
  url.searchParams.delete('workspace')
  history.replaceState(history.state, '', url)
}

/** A URL that also names the org and workspace, for people who work in another org. */
export const shareableUrl = (path: string): string => {
  const url = new URL(path, location.origin)
  if (current.orgId !== undefined) url.searchParams.set('org', current.orgId)
  if (current.workspaceId !== undefined) url.searchParams.set('workspace', current.workspaceId)
  return url.href
}
