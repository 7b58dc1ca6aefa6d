import { UsageError, labelled } from './command.ts'
import type { Arguments, Command, CommandContext, Output } from './command.ts'
import { toExpiry } from './expiry.ts'
import { getOrg } from './org.ts'
import { plural } from '../platform/text/plural.ts'
import { parseConfig } from '../config/config.ts'
import { systemActor } from '../identity/actor.ts'
import * as apiKeyQueries from '../identity/api-keys/queries.ts'
import type { ApiKeyRow } from '../identity/api-keys/queries.ts'
import { addKey, recordRevoked } from '../identity/api-keys/api-keys.ts'
import { auditPerson } from '../identity/audit/audit.ts'
import * as memberQueries from '../identity/members/queries.ts'
import { addMember } from '../identity/members/members.ts'
import * as orgQueries from '../identity/members/org-queries.ts'
import { createOrg, updateOrg } from '../identity/members/orgs.ts'
import { hashPassword, setPassword } from '../identity/sign-in/passwords.ts'
import { roles } from '../identity/permissions.ts'
import type { Role } from '../identity/permissions.ts'
import * as personQueries from '../identity/members/person-queries.ts'
import type { PersonRow } from '../identity/members/person-queries.ts'
import { createSignInLink } from '../identity/sign-in/links.ts'
import { deleteTwoFactors } from '../identity/sign-in/second-factor/queries.ts'
import * as workspaceQueries from '../identity/members/workspace-queries.ts'
import type { WorkspaceRow } from '../identity/members/workspace-queries.ts'
import { addWorkspace } from '../identity/members/workspaces.ts'
import type { Db } from '../platform/database/database.ts'
import { badRequest, notFound } from '../platform/http/errors.ts'
import { isUuid } from '../platform/ids.ts'
import { generateKey } from '../platform/key-format.ts'

const actorName = 'atrium command'

const text = (args: Arguments, name: string): string => args.options[name] ?? ''

/** Finds a person by ID or email address. Throws NOT_FOUND. */
const getPerson = async (db: Db, idOrEmail: string): Promise<PersonRow> => {
  const person = isUuid(idOrEmail)
    ? await personQueries.findPerson(db, idOrEmail)
    : await personQueries.findPersonByEmail(db, idOrEmail.trim().toLowerCase())
  if (!person) throw notFound('User')
  return person
}

const checkWorkspace = async (db: Db, orgId: string, id: string | undefined): Promise<void> => {
  if (id === undefined) return
  const count = isUuid(id) ? await workspaceQueries.countWorkspaces(db, orgId, [id]) : 0
  if (count === 0) throw notFound('Workspace')
}

const toRole = (name: string): Role => {
  const role = roles.find((one) => one === name)
  if (role === undefined) throw new UsageError(`--role must be one of ${roles.join(', ')}`, 'user add')
  return role
}

// The fields are listed as in the API's schemas, because a row may have more.
const workspaceRecord = ({ id, name, slug, isDefault, createdAt, updatedAt }: WorkspaceRow) => ({
  id,
  name,
  slug,
  isDefault,
  createdAt,
  updatedAt,
})
const memberRecord = ({ id, userId, email, name, role, createdAt }: memberQueries.MemberRow) => ({
  id,
  userId,
  email,
  name,
  role,
  createdAt,
})
const keyLines = (key: ApiKeyRow): [string, string][] => [
  ['Name', key.name],
  ['ID', key.id],
  ['Scopes', key.scopes.length === 0 ? 'all permissions of its user' : key.scopes.join(', ')],
  ['Expires', key.expiresAt ?? 'never'],
]

const orgCreate = async ({ config, db }: CommandContext, args: Arguments): Promise<Output> => {
  const key = generateKey(config.keyEnvironment)
  const made = await db.transaction('all orgs', (db) =>
    createOrg(db, { name: text(args, 'name'), owner: { email: text(args, 'owner') }, key, madeBy: actorName }),
  )
  const { org, workspace, member, apiKey } = made
  const user = { id: member.userId, email: member.email, name: member.name }
  return {
    json: { org, workspace: workspaceRecord(workspace), user, apiKey },
    lines: [
      ...labelled([
        ['Org', `${org.name}  ${org.id}`],
        ['Workspace', `${workspace.name}  ${workspace.id}`],
        ['Owner', `${user.email}  ${user.id}`],
        ['API key', key],
      ]),
      '',
      'Store the key now: it is not shown again. To let the owner sign in to the console:',
      `  atrium user sign-in-link ${user.id}`,
    ],
  }
}

const orgRename = async ({ db }: CommandContext, args: Arguments): Promise<Output> => {
  const { id, name: before } = await getOrg(db, args.operand)
  const { name, createdAt, updatedAt } = await db.transaction({ orgId: id }, (db) =>
    updateOrg(db, systemActor(id, actorName), { name: text(args, 'name') }, () => false),
  )
  const org = { id, name, createdAt, updatedAt }
  return { json: { org }, lines: [`Renamed ${before} to ${org.name}.`] }
}

const orgList = async ({ db }: CommandContext): Promise<Output> => {
  const orgs = await orgQueries.listOrgs(db)
  return {
    json: { orgs },
    lines: orgs.map(
      ({ id, name, members, workspaces }) =>
        `${id}  ${name} (${plural(members, 'member')}, ${plural(workspaces, 'workspace')})`,
    ),
  }
}

const userAdd = async ({ db }: CommandContext, args: Arguments): Promise<Output> => {
  const role = toRole(text(args, 'role'))
  const workspaceId = args.options['workspace']
  const member = await db.transaction('all orgs', async (db) => {
    const org = await getOrg(db, text(args, 'org'))
    await checkWorkspace(db, org.id, workspaceId)
    return addMember(db, systemActor(org.id, actorName), {
      email: text(args, 'email'),
      name: args.options['name'],
      role,
      workspaceIds: workspaceId === undefined ? undefined : [workspaceId],
    })
  })
  const user = { id: member.userId, email: member.email, name: member.name }
  return {
    json: { user, member: memberRecord(member) },
    lines: [
      ...labelled([
        ['User', `${user.email}  ${user.id}`],
        ['Role', member.role],
      ]),
      '',
      `To let the user sign in: atrium user sign-in-link ${user.id}`,
    ],
  }
}

const userPassword = async ({ db, readPassword }: CommandContext, args: Arguments): Promise<Output> => {
  const user = await getPerson(db, args.operand)
  const password = await readPassword()
  const length = [...password].length
  if (length < 8 || length > 128) throw badRequest('password must be 8–128 characters')
  const hash = await hashPassword(password)
  await db.transaction('all orgs', async (db) => {
    await setPassword(db, user.id, hash)
    await auditPerson(db, user.id, 'user.password-changed', { origin: null, details: { by: actorName } })
  })
  return { json: { user }, lines: [`Password of ${user.email} set. All sessions of the user have ended.`] }
}

const userSignInLink = async ({ db, serverUrl }: CommandContext, args: Arguments): Promise<Output> => {
  const user = await getPerson(db, args.operand)
  const { path, expiresAt } = await db.transaction('all orgs', async (db) => {
    await auditPerson(db, user.id, 'user.link-made', { origin: null, details: { by: actorName } })
    return createSignInLink(db, user.id, null)
  })
  const signInLink = serverUrl + path
  return {
    json: { user, signInLink, expiresAt },
    lines: [
      signInLink,
      '',
      `The link signs ${user.email} in once and expires at ${expiresAt}.`,
      'Earlier sign-in links of this user no longer work, including one printed at the first start.',
    ],
  }
}

const userTwoFactorOff = async ({ db }: CommandContext, args: Arguments): Promise<Output> => {
  const user = await getPerson(db, args.operand)
  const removed = await db.transaction('all orgs', async (db) => {
    if ((await deleteTwoFactors(db, user.id)) === 0) return false
    await auditPerson(db, user.id, 'user.two-factor-removed', { origin: null, details: { by: actorName } })
    return true
  })
  const state = removed ? 'turned off' : 'already off'
  return { json: { user, removed }, lines: [`Two-factor authentication of ${user.email}: ${state}.`] }
}

const workspaceCreate = async ({ db }: CommandContext, args: Arguments): Promise<Output> => {
  const workspace = await db.transaction('all orgs', async (db) => {
    const org = await getOrg(db, text(args, 'org'))
    return addWorkspace(db, systemActor(org.id, actorName), {
      name: text(args, 'name'),
      isDefault: false,
      userId: undefined,
    })
  })
  return {
    json: { workspace: workspaceRecord(workspace) },
    lines: labelled([['Workspace', `${workspace.name}  ${workspace.id}`]]),
  }
}

const keyCreate = async ({ config, db }: CommandContext, args: Arguments): Promise<Output> => {
  const workspaceId = args.options['workspace']
  const scopes = args.options['scopes']?.split(',').filter((scope) => scope.trim() !== '')
  const expiresAt = toExpiry(args.options['expires'], 'key create')
  const apiKey = await db.transaction('all orgs', async (db) => {
    const org = await getOrg(db, text(args, 'org'))
    const userId = text(args, 'user')
    const member = isUuid(userId) ? await memberQueries.findMemberOfUser(db, org.id, userId) : undefined
    if (!member) throw notFound('User')
    await checkWorkspace(db, org.id, workspaceId)
    const input = { name: args.options['name'] ?? 'Created by command', userId, workspaceId, scopes, expiresAt }
    return addKey(db, systemActor(org.id, actorName), input, generateKey(config.keyEnvironment))
  })
  const lines = labelled([['API key', apiKey.key], ...keyLines(apiKey)])
  return { json: { apiKey }, lines: [...lines, '', 'Store the key now: it is not shown again.'] }
}

const keyRevoke = async ({ db }: CommandContext, args: Arguments): Promise<Output> => {
  const apiKey = await db.transaction('all orgs', async (db) => {
    const found = isUuid(args.operand) ? await apiKeyQueries.findOrgOfKey(db, args.operand) : undefined
    if (!found) throw notFound('API key')
    const revoked = await apiKeyQueries.revokeKey(db, found.orgId, args.operand)
    if (!revoked) return apiKeyQueries.findKey(db, found.orgId, args.operand)
    await recordRevoked(db, systemActor(found.orgId, actorName), revoked)
    return revoked
  })
  if (!apiKey) throw notFound('API key')
  return { json: { apiKey }, lines: [`API key ${apiKey.name} (…${apiKey.last4}) was revoked at ${apiKey.revokedAt}.`] }
}

// Reads only NODE_ENV, because the configuration can be invalid without this key.
const keyGenerate = async (env: NodeJS.ProcessEnv): Promise<Output> => {
  const { keyEnvironment } = parseConfig(env['NODE_ENV'] === undefined ? {} : { NODE_ENV: env['NODE_ENV'] })
  const key = generateKey(keyEnvironment)
  return { json: { key }, lines: [key] }
}

const org = { value: 'ID', description: 'the org', required: true } as const
const name = { value: 'NAME', description: 'the name', required: true } as const
const operand = 'ID'
const needs = 'database'

/** Commands for orgs, workspaces, users and API keys. */
export const identityCommands: Command[] = [
  {
    words: 'org create',
    summary: 'Create an org with a workspace, an owner and an API key',
    options: { name, owner: { value: 'EMAIL', description: "the owner's email address", required: true } },
    details: 'A user with this email address in another org becomes the owner.',
    needs,
    run: orgCreate,
  },
  {
    words: 'org rename',
    summary: 'Rename an org',
    operand,
    options: { name },
    details: 'ID is the ID of the org.',
    needs,
    run: orgRename,
  },
  { words: 'org list', summary: 'List all orgs', options: {}, needs, run: orgList },
  {
    words: 'user add',
    summary: 'Add a user to an org',
    options: {
      org,
      email: { value: 'EMAIL', description: 'the email address of the user', required: true },
      role: { value: 'ROLE', description: roles.join(', '), required: true },
      workspace: { value: 'ID', description: "the first workspace of the user; default: the org's default workspace" },
      name: { value: 'NAME', description: 'the name of the user' },
    },
    needs,
    run: userAdd,
  },
  {
    words: 'user password',
    summary: "Set a user's password, read from standard input",
    operand,
    options: {},
    details:
      'ID is the ID or email address of the user. All sessions of the user end. Replaces the passwords and second factors that the user set up through an invitation of one org.',
    needs,
    run: userPassword,
  },
  {
    words: 'user sign-in-link',
    summary: 'Create a link that signs a user in once, within 24 hours',
    operand,
    options: {},
    details: 'ID is the ID or email address of the user. Older links of the user stop working.',
    needs,
    run: userSignInLink,
  },
  {
    words: 'user two-factor-off',
    summary: 'Turn off two-factor authentication of a user who lost the second factor',
    operand,
    options: {},
    details: 'ID is the ID or email address of the user.',
    needs,
    run: userTwoFactorOff,
  },
  {
    words: 'workspace create',
    summary: 'Create a workspace in an org',
    options: { org, name },
    needs,
    run: workspaceCreate,
  },
  {
    words: 'key create',
    summary: 'Create an API key for a user',
    options: {
      org,
      user: { value: 'ID', description: 'the user of the key', required: true },
      workspace: { value: 'ID', description: "the workspace of the key; default: the org's default workspace" },
      scopes: { value: 'A,B', description: 'scopes such as files:read,agents:*; default: all permissions of the user' },
      expires: { value: 'D', description: 'a date, an ISO 8601 time, or a duration such as 90d; default: never' },
      name: { value: 'NAME', description: 'the name' },
    },
    needs,
    run: keyCreate,
  },
  {
    words: 'key revoke',
    summary: 'Revoke an API key',
    operand,
    options: {},
    details: 'Running servers reject the key immediately.',
    needs,
    run: keyRevoke,
  },
  {
    words: 'key generate',
    summary: 'Generate a key for BOOTSTRAP_API_KEY',
    options: {},
    details: 'Does not use the database: the key is valid only after the first start with it.',
    needs: 'environment',
    run: keyGenerate,
  },
]
