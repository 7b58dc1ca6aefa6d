// Which org and workspace this tab looks at. A tab keeps its own; a new tab begins with the last one chosen. A link may
// name another (`?org=…&workspace=…`), which the person is asked about.
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
    // Storage is off: this tab still knows.
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

/** The org that a link asked for and that is not this tab's; the person is asked. */
export const useScopeRequest = (): ScopeRequest | undefined =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => request,
  )

export const dropScopeRequest = (): void => {
  request = undefined
  for (const listener of listeners) listener()
}

/**
 * Reads the org and workspace that the address names, before anything is drawn. They leave the address. Another org than
 * this tab's is only a wish: a link of a stranger must not decide where somebody works.
 */
export const takeScopeFromAddress = (): void => {
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

/** The address of this page for somebody else, who may be looking at another org. */
export const shareableUrl = (path: string): string => {
  const url = new URL(path, location.origin)
  if (current.orgId !== undefined) url.searchParams.set('org', current.orgId)
  if (current.workspaceId !== undefined) url.searchParams.set('workspace', current.workspaceId)
  return url.href
}
