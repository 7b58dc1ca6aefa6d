import { UsageError, labelled } from './command.ts'
import type { Arguments, Command, CommandContext, Output } from './command.ts'
import { toExpiry } from './expiry.ts'
import { parseConfig } from '../config/config.ts'
import { systemActor } from '../identity/actor.ts'
import * as apiKeyQueries from '../identity/api-keys/queries.ts'
import type { ApiKeyRow } from '../identity/api-keys/queries.ts'
import { addKey } from '../identity/api-keys/api-keys.ts'
import { audit, auditPerson } from '../identity/audit/audit.ts'
import * as memberQueries from '../identity/members/queries.ts'
import { addMember } from '../identity/members/members.ts'
import * as orgQueries from '../identity/members/org-queries.ts'
import { createOrg } from '../identity/members/orgs.ts'
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
import { prepareDataDir } from '../platform/postgres/data-dir.ts'
import type { Db } from '../platform/database/database.ts'
import { openSecrets } from '../platform/encryption/keys.ts'
import { badRequest, notFound } from '../platform/http/errors.ts'
import { isUuid } from '../platform/ids.ts'
import { generateKey } from '../platform/key-format.ts'
import { reencrypt } from '../platform/encryption/reencrypt.ts'
import { sealedColumns } from '../sealed-columns.ts'

const madeBy = 'atrium command'

const text = (args: Arguments, name: string): string => args.options[name] ?? ''

const getOrg = async (db: Db, id: string): Promise<orgQueries.OrgRow> => {
  const org = isUuid(id) ? await orgQueries.findOrg(db, id) : undefined
  if (!org) throw notFound('Org')
  return org
}

/** By id, or by e-mail address: people are known by both. */
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

// What leaves is listed, as in the API's schemas: a row may have more.
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
  ['Id', key.id],
  ['Scopes', key.scopes.length === 0 ? 'everything that its user may do' : key.scopes.join(', ')],
  ['Expires', key.expiresAt ?? 'never'],
]

const orgCreate = async ({ config, db }: CommandContext, args: Arguments): Promise<Output> => {
  const key = generateKey(config.keyEnvironment)
  const made = await db.transaction('all orgs', (db) =>
    createOrg(db, { name: text(args, 'name'), owner: { email: text(args, 'owner') }, key, madeBy }),
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
      'The key is shown only now. For the console, let the owner sign in once by link:',
      `  atrium user sign-in-link ${user.id}`,
    ],
  }
}

const orgList = async ({ db }: CommandContext): Promise<Output> => {
  const orgs = await orgQueries.listOrgs(db)
  return {
    json: { orgs },
    lines: orgs.map(
      ({ id, name, members, workspaces }) => `${id}  ${name} (${members} members, ${workspaces} workspaces)`,
    ),
  }
}

const userAdd = async ({ db }: CommandContext, args: Arguments): Promise<Output> => {
  const role = toRole(text(args, 'role'))
  const workspaceId = args.options['workspace']
  const member = await db.transaction('all orgs', async (db) => {
    const org = await getOrg(db, text(args, 'org'))
    await checkWorkspace(db, org.id, workspaceId)
    return addMember(db, systemActor(org.id, madeBy), {
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
      `To let them sign in: atrium user sign-in-link ${user.id}`,
    ],
  }
}

const userPassword = async ({ db, readPassword }: CommandContext, args: Arguments): Promise<Output> => {
  const user = await getPerson(db, args.operand)
  const password = await readPassword()
  const length = [...password].length
  if (length < 8 || length > 128) throw badRequest('The password must have 8 to 128 characters.')
  const hash = await hashPassword(password)
  await db.transaction('all orgs', async (db) => {
    await setPassword(db, user.id, hash)
    await auditPerson(db, user.id, 'user.password-changed', { origin: null, details: { by: madeBy } })
  })
  return { json: { user }, lines: [`${user.email} has the new password. Their sessions have ended.`] }
}

const userSignInLink = async ({ db, serverUrl }: CommandContext, args: Arguments): Promise<Output> => {
  const user = await getPerson(db, args.operand)
  const { path, expiresAt } = await db.transaction('all orgs', async (db) => {
    await auditPerson(db, user.id, 'user.link-made', { origin: null, details: { by: madeBy } })
    return createSignInLink(db, user.id, null)
  })
  const signInLink = serverUrl + path
  return {
    json: { user, signInLink, expiresAt },
    lines: [signInLink, '', `It signs ${user.email} in once, until ${expiresAt}.`],
  }
}

const userTwoFactorOff = async ({ db }: CommandContext, args: Arguments): Promise<Output> => {
  const user = await getPerson(db, args.operand)
  const removed = await db.transaction('all orgs', async (db) => {
    if ((await deleteTwoFactors(db, user.id)) === 0) return false
    await auditPerson(db, user.id, 'user.two-factor-removed', { origin: null, details: { by: madeBy } })
    return true
  })
  const was = removed ? 'is off now' : 'was off already'
  return { json: { user, removed }, lines: [`Two-factor authentication of ${user.email} ${was}.`] }
}

const workspaceCreate = async ({ db }: CommandContext, args: Arguments): Promise<Output> => {
  const workspace = await db.transaction('all orgs', async (db) => {
    const org = await getOrg(db, text(args, 'org'))
    return addWorkspace(db, systemActor(org.id, madeBy), {
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
    const wishes = { name: args.options['name'] ?? 'Made by command', userId, workspaceId, scopes, expiresAt }
    return addKey(db, systemActor(org.id, madeBy), wishes, generateKey(config.keyEnvironment))
  })
  const lines = labelled([['API key', apiKey.key], ...keyLines(apiKey)])
  return { json: { apiKey }, lines: [...lines, '', 'The key is shown only now.'] }
}

const keyRevoke = async ({ db }: CommandContext, args: Arguments): Promise<Output> => {
  const apiKey = await db.transaction('all orgs', async (db) => {
    const found = isUuid(args.operand) ? await apiKeyQueries.findOrgOfKey(db, args.operand) : undefined
    if (!found) throw notFound('API key')
    const revoked = await apiKeyQueries.revokeKey(db, found.orgId, args.operand)
    if (!revoked) return apiKeyQueries.findKey(db, found.orgId, args.operand)
    const { id, name, userId } = revoked
    await audit(db, systemActor(found.orgId, madeBy), 'api-key.revoked', {
      type: 'api-key',
      id,
      details: { name, userId },
    })
    return revoked
  })
  if (!apiKey) throw notFound('API key')
  return { json: { apiKey }, lines: [`${apiKey.name} (…${apiKey.last4}) is revoked since ${apiKey.revokedAt}.`] }
}

// Only the environment's name: this is how to get a key for a configuration that is not right yet.
const keyGenerate = async (env: NodeJS.ProcessEnv): Promise<Output> => {
  const { keyEnvironment } = parseConfig(env['NODE_ENV'] === undefined ? {} : { NODE_ENV: env['NODE_ENV'] })
  const key = generateKey(keyEnvironment)
  return { json: { key }, lines: [key] }
}

const org = { value: 'ID', description: 'the org', required: true } as const
const name = { value: 'NAME', description: 'what it is called', required: true } as const
const operand = 'ID'
const needs = 'database'

/** Administration of people, orgs and keys. */
export const identityCommands: Command[] = [
  {
    words: 'org create',
    summary: 'Create an org with a workspace, an owner and their first API key',
    options: { name, owner: { value: 'EMAIL', description: "the owner's e-mail address", required: true } },
    details: 'Somebody who is in another org already stays the same user.',
    needs,
    run: orgCreate,
  },
  { words: 'org list', summary: 'List all orgs', options: {}, needs, run: orgList },
  {
    words: 'user add',
    summary: 'Add a user to an org',
    options: {
      org,
      email: { value: 'EMAIL', description: 'their e-mail address', required: true },
      role: { value: 'ROLE', description: roles.join(', '), required: true },
      workspace: { value: 'ID', description: "the workspace they begin in; the org's default one when left out" },
      name: { value: 'NAME', description: 'what they are called' },
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
      'ID is their id or e-mail address. All of their sessions end. It replaces the passwords and second factors that the person set up through an invitation of one org.',
    needs,
    run: userPassword,
  },
  {
    words: 'user sign-in-link',
    summary: 'Make a link that signs a user in once, within 24 hours',
    operand,
    options: {},
    details: 'ID is their id or e-mail address. An older link of theirs stops working.',
    needs,
    run: userSignInLink,
  },
  {
    words: 'user two-factor-off',
    summary: 'Turn off the two-factor authentication of a user who lost it',
    operand,
    options: {},
    details: 'ID is their id or e-mail address.',
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
      user: { value: 'ID', description: 'the user it stands for', required: true },
      workspace: { value: 'ID', description: "its workspace; the org's default one when left out" },
      scopes: { value: 'A,B', description: 'what it is narrowed to, such as files:read,agents:*; all when left out' },
      expires: { value: 'D', description: 'a date, an ISO time, or a time from now such as 90d; never when left out' },
      name: { value: 'NAME', description: 'what it is called' },
    },
    needs,
    run: keyCreate,
  },
  {
    words: 'key revoke',
    summary: 'Revoke an API key',
    operand,
    options: {},
    details: 'It stops working at once, on running servers too.',
    needs,
    run: keyRevoke,
  },
  {
    words: 'key generate',
    summary: 'Print a new well-formed key of this environment, for BOOTSTRAP_API_KEY',
    options: {},
    details: 'Touches no database: the key is worth nothing until a first start is given it.',
    needs: 'environment',
    run: keyGenerate,
  },
]

const reencryptAll = async ({ config, db }: CommandContext): Promise<Output> => {
  // Without ENCRYPTION_KEYS they are kept there.
  await prepareDataDir(config.dataDir)
  const sealer = await openSecrets(db, config)
  const { columns, isComplete } = await reencrypt(db, sealer, sealedColumns)
  const count = (of: 'resealed' | 'unreadable'): number => columns.reduce((sum, column) => sum + column[of], 0)
  const outcome = isComplete
    ? 'Everything is under it: the other keys may go.'
    : `Not everything is under it, ${count('unreadable')} values do not open with any key: keep the other keys, and run it again.`
  return {
    json: { currentKeyId: sealer.currentKeyId, columns, isComplete },
    lines: [`${count('resealed')} values are newly under the key ${sealer.currentKeyId}. ${outcome}`],
    ok: isComplete,
  }
}

export const reencryptCommand: Command = {
  words: 'reencrypt',
  summary: 'Put every stored secret under the first of ENCRYPTION_KEYS',
  options: {},
  details: 'Beside running servers, and as often as you like. Afterwards the other keys may go.',
  needs,
  run: reencryptAll,
}
