import { Type } from 'typebox'
import { CreatedAt, CursorQuery, Id, IdOf, Nullable, TimestampOf, UpdatedAt } from '../platform/http/schemas.ts'
import { languages } from '../platform/text/languages.ts'
import { roles } from './permissions.ts'

const person = { description: 'Name of the person.', examples: ['Ada Lovelace'] }
const email = { description: 'E-mail address.', examples: ['ada@example.com'] }
const Named = (of: string, example: string) => ({
  id: IdOf(`ID of the ${of}.`),
  name: Type.String({ description: `Name of the ${of}.`, examples: [example] }),
})
const Org = Type.Object(Named('org', 'Northwind'), { description: 'The org.' })
export const LogoUrl = Nullable(
  Type.String({
    description:
      'Public URL of the logo, a WebP picture of 256 × 256 pixels, or of 64 × 64 with `?size=64`. Another logo has another URL. Null: no logo.',
    examples: [
      'https://atrium.example.com/logos/01a1fc7d-5095-70e3-b6aa-73e01d26bd3b/5f1c0a4b9d3e27c86a10f4d2b7e9358c',
    ],
  }),
)
const nameRule = { minLength: 1, maxLength: 120 }
const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  description: 'E-mail address, 3–254 characters.',
  examples: ['ada@example.com'],
})
export const Role = Type.Enum([...roles], {
  description: 'Role in the org: `owner`, `admin`, `billing_manager` or `member`.',
  examples: ['member'],
})

const Language = Type.Enum([...languages], { description: 'BCP 47 tag of the language.', examples: ['de'] })

export const Me = Type.Object(
  {
    user: Type.Object(
      {
        id: IdOf('ID of the user.'),
        email: Type.String(email),
        name: Type.String(person),
        language: Nullable(Language, 'Language of the console in this org. Null: that of the browser.'),
      },
      { description: 'The user that the credential stands for.' },
    ),
    org: Type.Object({ ...Org.properties, logoUrl: LogoUrl }, { description: 'The org.' }),
    workspace: Nullable(
      Type.Object(Named('workspace', 'Main')),
      'The workspace of the call. Null for a member who is in no workspace.',
    ),
    role: Type.String({ description: 'Role of the user in the org.', examples: ['owner'] }),
    permissions: Type.Array(Type.String(), {
      description: 'What the call may do: the permissions of the role, limited to the scopes of the key.',
      examples: [['files:read', 'agents:read']],
    }),
    apiKey: Nullable(
      Type.Object({
        ...Named('API key', 'CI'),
        scopes: Type.Array(Type.String(), {
          description: 'Scopes of the key. Empty: everything that its user may do.',
          examples: [['files:*', 'agents:read']],
        }),
      }),
      'The API key of the call. Null for a session of the console.',
    ),
  },
  { description: 'Who is calling.' },
)

const orgName = Type.String({ ...nameRule, description: 'Name, 1–120 characters.', examples: ['Northwind'] })

const orgDefaults = {
  defaultModel: Nullable(
    Type.String({ minLength: 1, maxLength: 120, examples: ['anthropic/claude-sonnet-5'] }),
    'ID of the model of new agents that name none, at most 120 characters. Null: that of the server.',
  ),
  defaultTimeZone: Nullable(
    Type.String({ minLength: 1, maxLength: 64, examples: ['Europe/Berlin'] }),
    'Name of the time zone in the IANA database, at most 64 characters. It decides which date agents have. Null: UTC.',
  ),
  defaultLanguage: Nullable(Language, 'Language of the console for new members. Null: that of their browser.'),
}

export const OrgSettings = Type.Object(
  {
    id: IdOf('ID of the org.'),
    name: orgName,
    logoUrl: LogoUrl,
    ...orgDefaults,
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  },
  { description: 'The org of the call.' },
)
export const OrgChange = Type.Object({ name: orgName, ...orgDefaults }, { examples: [{ name: 'Northwind' }] })

const logoSizes = [64, 256] as const
const logoSize = Type.Unsafe<(typeof logoSizes)[number]>({
  type: 'integer',
  enum: [...logoSizes],
  default: 256,
  description: 'Width and height in pixels: 64 or 256. Default 256.',
})
export const LogoQuery = Type.Object({ size: logoSize })

const Picture = { schema: Type.Unsafe<Buffer>({ description: 'The bytes of a picture, at most 1 MB.' }) }
export const LogoBody = { content: { 'image/png': Picture, 'image/jpeg': Picture, 'image/webp': Picture } }

export const MeChange = Type.Object({
  name: Type.String({
    ...nameRule,
    description: 'Your name in this org, 1–120 characters.',
    examples: ['Ada Lovelace'],
  }),
  language: Nullable(Language, 'Your language of the console in this org. Null: that of the browser.'),
})

const workspaceName = { description: 'Name, 1–120 characters.', examples: ['Engineering'] }

export const Workspace = Type.Object(
  {
    id: Id,
    name: Type.String(workspaceName),
    slug: Type.String({
      description: 'Short name, made from the first name. It never changes.',
      examples: ['engineering'],
    }),
    isDefault: Type.Boolean({ description: 'Whether this is the default workspace of the org.' }),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  },
  { description: 'A workspace of the org.' },
)
export const WorkspaceCreate = Type.Object({ name: Type.String({ ...nameRule, ...workspaceName }) })

export const WorkspaceMember = Type.Object(
  {
    userId: IdOf('ID of the user.'),
    email: Type.String(email),
    name: Type.String(person),
    role: Role,
    createdAt: TimestampOf('Time when the member was added to the workspace.'),
  },
  { description: 'A member of the org who was added to a workspace.' },
)
export const WorkspaceMemberAdd = Type.Object({ userId: IdOf('ID of a user who is a member of the org.') })
/** A malformed userId is rejected like that of a user who is not in the workspace. */
export const WorkspaceMemberParams = Type.Object({
  id: IdOf('ID of the workspace.'),
  userId: Type.String({ description: 'ID of the user.' }),
})

const memberFields = {
  id: IdOf('ID of the membership. It differs from the ID of the user.'),
  userId: IdOf('ID of the user.'),
  email: Type.String(email),
  name: Type.String(person),
  role: Role,
  createdAt: CreatedAt,
  status: Type.Enum(['active', 'invited'], {
    description:
      '`active`: a member. `invited`: has not accepted the invitation and has no access to the org. New people are active at once; people who signed in before or belong to another org are invited.',
  }),
  expiresAt: Nullable(TimestampOf('Time at which the invitation expires, after 30 days. Null for members.')),
}
/** A member in a list. */
export const ListedMember = Type.Object(
  {
    ...memberFields,
    lastActiveAt: Nullable(
      TimestampOf(
        'Time of the latest request of the member in this org, in the console or with an API key, accurate to an hour. Null before the first, for invited people, and for callers who are neither owner nor admin.',
      ),
    ),
    workspaces: Type.Array(Type.Object(Named('workspace', 'Main')), {
      description:
        'Workspaces that the member was added to, or will be when they accept, by name, at most 20. Owners and admins can access every workspace. Callers who are neither see only workspaces of their own.',
    }),
    workspaceCount: Type.Integer({
      description: 'Number of these workspaces, also when there are more than 20.',
      examples: [1],
    }),
  },
  { description: 'A member of the org, or an invited person.' },
)

export const MemberSignInLink = Type.Object(
  {
    signInLink: Type.String({
      description: 'Sign-in link that works once. It is not shown again.',
      examples: ['https://atrium.example.com/sign-in#link=hS9…'],
    }),
    expiresAt: TimestampOf('Time from which the link does not work any more, 24 hours after its creation.'),
  },
  { description: 'A sign-in link for an invited person.' },
)

export const MemberQuery = Type.Object({
  ...CursorQuery.properties,
  status: Type.Optional(
    Type.Enum(['active', 'invited'], {
      default: 'active',
      description: 'Return members (`active`) or people who have not accepted yet (`invited`). Default `active`.',
    }),
  ),
  userId: Type.Optional(IdOf('Return only the member with this user ID. Default: all.')),
})
export const Invitation = Type.Object(
  {
    id: Id,
    org: Org,
    role: Role,
    invitedBy: Type.String({ description: 'Name of the member who sent the invitation.', examples: ['Grace Hopper'] }),
    createdAt: CreatedAt,
    expiresAt: TimestampOf('Time at which the invitation expires, after 30 days.'),
  },
  { description: 'An invitation to an org.' },
)
export const InvitationList = Type.Object(
  { items: Type.Array(Invitation, { description: 'Your open invitations, oldest first, at most 100.' }) },
  { description: 'Your open invitations.' },
)
export const InvitationAccepted = Type.Object(
  { memberId: IdOf('ID of the new membership.'), orgId: IdOf('ID of the org.') },
  { description: 'The new membership.' },
)
export const InvitationDeclined = Type.Object(
  { declined: Type.Literal(true, { description: 'Always true.' }) },
  { description: 'Confirmation that the invitation is declined.' },
)
export const Member = Type.Object(memberFields, { description: 'A member of the org, or a person who is invited.' })
export const MemberCreate = Type.Object({
  email: Email,
  name: Type.Optional(
    Type.String({
      ...nameRule,
      description:
        'Name of the person in this org, 1–120 characters. Default: the part of the e-mail address before the `@`.',
      examples: ['Ada Lovelace'],
    }),
  ),
  role: Role,
  workspaceIds: Type.Optional(
    Type.Array(IdOf('ID of a workspace.'), {
      maxItems: 100,
      description: 'Workspaces to add the person to, at most 100. Default: the default workspace of the org.',
    }),
  ),
})
export const MemberCreated = Type.Object(
  {
    ...memberFields,
    signInLink: Nullable(
      Type.String({
        description:
          'One-time sign-in link for this org, valid for 24 hours and returned only here. Null without step-up, and for a person who has a password that opens this org.',
        examples: ['https://atrium.example.com/sign-in#link=8Lie1OstKwwCdr-dcJBd_GBYphSiDmokF00r77EEYmU'],
      }),
    ),
  },
  { description: 'The new member, with a sign-in link.' },
)
export const MemberPatch = Type.Object({ role: Role })

const keyName = { description: 'Name of the key, 1–120 characters.', examples: ['CI'] }
const keyScopes = { examples: [['files:*', 'agents:read']] }

const apiKeyFields = {
  id: Id,
  name: Type.String(keyName),
  prefix: Type.String({ description: 'Beginning of the key, with its environment.', examples: ['atr_live_'] }),
  last4: Type.String({ description: 'Last four characters of the key.', examples: ['CFCt'] }),
  userId: IdOf('ID of the user that the key stands for.'),
  workspaceId: Nullable(IdOf('ID of the workspace of its calls. Null: the default workspace of the org.')),
  scopes: Type.Array(Type.String(), {
    description: 'Permissions that the key is limited to. Empty: everything that its user may do.',
    ...keyScopes,
  }),
  expiresAt: Nullable(TimestampOf('Time of expiry. Null: never.', '2027-06-30T00:00:00.000Z')),
  lastUsedAt: Nullable(TimestampOf('Time of the last use, accurate to ten minutes. Null before the first.', null)),
  revokedAt: Nullable(TimestampOf('Time of revocation. Null for a valid key.', null)),
  createdAt: CreatedAt,
}
export const ApiKey = Type.Object(apiKeyFields, { description: 'An API key. The key itself is never returned again.' })
export const ApiKeyCreate = Type.Object({
  name: Type.String({ ...nameRule, ...keyName }),
  workspaceId: Type.Optional(
    Nullable(IdOf('ID of the workspace of its calls. Default, also for null: the default workspace of the org.')),
  ),
  scopes: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 50,
      description:
        'Permissions to limit the key to, such as `files:read`, or `files:*` for all of an area. At most 50. Default: everything that its user may do.',
      ...keyScopes,
    }),
  ),
  expiresAt: Type.Optional(
    Nullable(TimestampOf('Time of expiry, in the future. Default, also for null: never.', '2027-06-30T00:00:00.000Z')),
  ),
})
export const ApiKeyCreated = Type.Object(
  {
    ...apiKeyFields,
    key: Type.String({
      description: 'The API key. Returned only here; store it in a safe place.',
      examples: ['atr_live_TdyhVER2rXJP1wl1NZ5cYbebANBeyKSSvlTp8svY8iO4HCFCt'],
    }),
  },
  { description: 'The new API key.' },
)

export const AuditEntry = Type.Object(
  {
    id: Id,
    at: TimestampOf('Time of the action.'),
    actor: Type.Object(
      {
        id: Nullable(IdOf('ID of the user. Null for the server and its operator.')),
        name: Type.String({ description: 'Name of the user at that time.', examples: ['Ada Lovelace'] }),
        apiKeyId: Nullable(IdOf('ID of the API key. Null without one.')),
      },
      { description: 'Who acted.' },
    ),
    action: Type.String({ description: 'What happened, as `<resource>.<verb>`.', examples: ['workspace.created'] }),
    resource: Type.Object(
      {
        type: Type.String({ description: 'Type of the resource.', examples: ['workspace'] }),
        id: Nullable(
          Type.String({
            description: 'ID of the resource. Null without one.',
            examples: ['01a1fc7d-21a3-7230-ae03-772a58aff1b3'],
          }),
        ),
      },
      { description: 'What was changed.' },
    ),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Details of the action. The keys depend on `action`.',
      examples: [{ name: 'Engineering' }],
    }),
    ip: Nullable(
      Type.String({ description: 'IP address of the caller. Null when unknown.', examples: ['203.0.113.7'] }),
    ),
    requestId: Nullable(
      Type.String({
        description: '`X-Request-Id` of the response. Null for actions outside of a request.',
        examples: ['01a1fc7d-d6f8-7d7b-ac3f-ea40a00a72ce'],
      }),
    ),
    seq: Nullable(
      Type.Integer({
        description: 'Position in the hash chain of the org, from 1. Null for the first seconds.',
        examples: [128],
      }),
    ),
    hash: Nullable(
      Type.String({
        description: 'SHA-256 of the previous hash and this entry, in hexadecimal. Null for the first seconds.',
        examples: ['b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c'],
      }),
    ),
  },
  { description: 'An entry of the audit log. Entries are never changed or deleted.' },
)
const auditFilters = {
  action: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Return only entries with this action, such as `member.added`. At most 100 characters.',
    }),
  ),
  actorId: Type.Optional(IdOf('Return only actions of the user with this ID.')),
  since: Type.Optional(TimestampOf('Return only entries from this time on, inclusive.')),
  until: Type.Optional(TimestampOf('Return only entries before this time, exclusive.')),
  resourceType: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Return only entries about resources of this type, such as `agent`. At most 100 characters.',
    }),
  ),
  resourceId: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Return only entries about the resource with this ID. At most 255 characters.',
    }),
  ),
}

export const AuditQuery = Type.Object({ ...CursorQuery.properties, ...auditFilters })

export const AuditExportQuery = Type.Object({
  ...auditFilters,
  format: Type.Enum(['csv', 'jsonl'], {
    default: 'csv',
    description: '`csv`, or `jsonl`: JSON with one entry per line. Default `csv`.',
  }),
})
