/** Permissions of roles, also the scopes of API keys. The scope `area:*` means all permissions of an area. */
export const permissions = [
  'files:read',
  'files:write',
  'projects:read',
  'projects:write',
  'agents:read',
  'agents:write',
  'sessions:read',
  'sessions:write',
  'approvals:decide',
  'webhooks:read',
  'webhooks:write',
  'billing:read',
  'billing:manage',
  'connections:read',
  'connections:write',
  'org:write',
  'workspaces:read',
  'workspaces:write',
  'members:read',
  'members:write',
  'keys:read',
  'keys:write',
  'audit:read',
] as const
export type Permission = (typeof permissions)[number]

export const roles = ['owner', 'admin', 'billing_manager', 'member'] as const
export type Role = (typeof roles)[number]

/** Not granted to the role `member`. */
const elevated: readonly Permission[] = [
  'approvals:decide',
  'billing:manage',
  'org:write',
  'workspaces:write',
  'members:write',
  'audit:read',
]

const everyone = permissions.filter((permission) => !elevated.includes(permission))

const ofRole: Record<Role, readonly Permission[]> = {
  owner: permissions,
  admin: permissions,
  billing_manager: [...everyone, 'billing:manage'],
  member: everyone,
}

const areas = new Set(permissions.map((permission) => permission.split(':')[0]))

/** Whether the text is a scope: a permission or `area:*`. */
export const isScope = (scope: string): boolean =>
  (permissions as readonly string[]).includes(scope) || (scope.endsWith(':*') && areas.has(scope.slice(0, -2)))

/** The permissions of a role that the scopes of an API key include; no scopes mean all of them. */
export const effectivePermissions = (role: Role, scopes: readonly string[]): ReadonlySet<Permission> => {
  const allowed = ofRole[role]
  if (scopes.length === 0) return new Set(allowed)
  return new Set(
    allowed.filter((permission) => scopes.includes(permission) || scopes.includes(`${permission.split(':')[0]}:*`)),
  )
}

/** The roles that people with this role may give to others: only owners make owners. */
export const rolesGivenBy = (role: Role): readonly Role[] => {
  if (!ofRole[role].includes('members:write')) return []
  return role === 'owner' ? roles : roles.filter((given) => given !== 'owner')
}

/** Owners and admins act for others of their org where no permission says so, such as ending their locks. */
export const isAdministrator = (role: Role): boolean => role === 'owner' || role === 'admin'

/** Owners and admins see every workspace of their org. */
export const seesAllWorkspaces = isAdministrator
