import { msg } from '@lingui/core/macro'
import type { Text } from '../../i18n/text.ts'

export type Level = 'none' | 'read' | 'write'

/** The permissions of one area. An area without `read` or `write` has no such permission. */
export interface ScopeArea {
  area: string
  name: Text
  about: Text
  read?: string
  write?: string
  /** The name of the level `write`, where the API has another word for it. */
  writeName?: Text
}

export const scopeAreas: readonly ScopeArea[] = [
  { area: 'files', name: msg`Files`, about: msg`Files and folders`, read: 'files:read', write: 'files:write' },
  {
    area: 'projects',
    name: msg`Projects`,
    about: msg`Projects and their folders`,
    read: 'projects:read',
    write: 'projects:write',
  },
  {
    area: 'agents',
    name: msg`Agents`,
    about: msg`Agents, their instructions and the models`,
    read: 'agents:read',
    write: 'agents:write',
  },
  {
    area: 'sessions',
    name: msg`Conversations`,
    about: msg`Write sends messages, which uses the balance`,
    read: 'sessions:read',
    write: 'sessions:write',
  },
  {
    area: 'approvals',
    name: msg`Approvals`,
    about: msg`Decide about tool calls in the conversations of others`,
    write: 'approvals:decide',
    writeName: msg`Decide`,
  },
  {
    area: 'webhooks',
    name: msg`Webhooks`,
    about: msg`Webhooks and event endpoints`,
    read: 'webhooks:read',
    write: 'webhooks:write',
  },
  {
    area: 'connections',
    name: msg`Connections`,
    about: msg`Your accounts at other services; Write uses them`,
    read: 'connections:read',
    write: 'connections:write',
  },
  {
    area: 'billing',
    name: msg`Billing`,
    about: msg`Balance, spending, plans and deposits`,
    read: 'billing:read',
    write: 'billing:manage',
    writeName: msg`Manage`,
  },
  { area: 'org', name: msg`Organization`, about: msg`Name of the organization`, write: 'org:write' },
  {
    area: 'workspaces',
    name: msg`Workspaces`,
    about: msg`Workspaces and who is in them`,
    read: 'workspaces:read',
    write: 'workspaces:write',
  },
  {
    area: 'members',
    name: msg`Members`,
    about: msg`People, invitations and roles`,
    read: 'members:read',
    write: 'members:write',
  },
  {
    area: 'keys',
    name: msg`API keys`,
    about: msg`API keys and authorized apps`,
    read: 'keys:read',
    write: 'keys:write',
  },
  { area: 'audit', name: msg`Audit log`, about: msg`Who changed what`, read: 'audit:read' },
]

export type Levels = Readonly<Record<string, Level>>

/** The scopes of the levels; an area that is missing has none. */
export const scopesOf = (levels: Levels): string[] =>
  scopeAreas.flatMap(({ area, read, write }) => {
    const level = levels[area] ?? 'none'
    const chosen = level === 'write' ? [read, write] : level === 'read' ? [read] : []
    return chosen.filter((scope) => scope !== undefined)
  })

export interface ScopeSummary {
  access: 'both' | 'read' | 'write' | 'unknown'
  names: Text[]
}

/** What scopes allow, by kind of access. `area:*` is all of an area. Scopes that the console does not know come last. */
export const summaryOf = (scopes: readonly string[]): ScopeSummary[] => {
  const names: Record<ScopeSummary['access'], Text[]> = { both: [], read: [], write: [], unknown: [] }
  const known = new Set<string>()
  for (const { area, name, read, write } of scopeAreas) {
    for (const scope of [read, write, `${area}:*`]) if (scope !== undefined) known.add(scope)
    const has = (scope: string | undefined): boolean =>
      scope !== undefined && (scopes.includes(scope) || scopes.includes(`${area}:*`))
    if (has(read)) names[has(write) ? 'both' : 'read'].push(name)
    else if (has(write)) names.write.push(name)
  }
  names.unknown.push(...scopes.filter((scope) => !known.has(scope)))
  return (['both', 'write', 'read', 'unknown'] as const)
    .map((access) => ({ access, names: names[access] }))
    .filter((part) => part.names.length > 0)
}
