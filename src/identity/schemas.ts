import { Type } from 'typebox'
import { CursorQuery, Id, Nullable, Timestamp } from '../platform/http/schemas.ts'
import { roles } from './permissions.ts'

const Named = Type.Object({ id: Id, name: Type.String() })
const Name = Type.String({ minLength: 1, maxLength: 120 })
const Email = Type.String({ minLength: 3, maxLength: 254 })
const Password = Type.String({ minLength: 8, maxLength: 128 })
export const Role = Type.Enum([...roles])

export const Me = Type.Object({
  user: Type.Object({ id: Id, email: Type.String(), name: Type.String() }),
  org: Named,
  workspace: Nullable(Named),
  role: Type.String(),
  permissions: Type.Array(Type.String()),
  apiKey: Nullable(Type.Object({ id: Id, name: Type.String(), scopes: Type.Array(Type.String()) })),
})

export const Workspace = Type.Object({
  id: Id,
  name: Type.String(),
  slug: Type.String(),
  isDefault: Type.Boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export const WorkspaceCreate = Type.Object({ name: Name })

export const WorkspaceMember = Type.Object({
  userId: Id,
  email: Type.String(),
  name: Type.String(),
  role: Role,
  createdAt: Timestamp,
})
export const WorkspaceMemberAdd = Type.Object({ userId: Id })
/** A malformed userId is answered like that of somebody who is not in the workspace. */
export const WorkspaceMemberParams = Type.Object({ id: Id, userId: Type.String() })

const memberFields = {
  id: Id,
  userId: Id,
  email: Type.String(),
  name: Type.String(),
  role: Role,
  createdAt: Timestamp,
  status: Type.Enum(['active', 'invited'], {
    description:
      '`invited`: has not accepted yet, and may do nothing in this org; set for people who signed in before or are in another org',
  }),
}
export const MemberQuery = Type.Object({
  ...CursorQuery.properties,
  status: Type.Optional(
    Type.Enum(['active', 'invited'], {
      default: 'active',
      description: 'members (`active`, the default) or people who have not accepted yet (`invited`)',
    }),
  ),
})
export const Invitation = Type.Object({
  id: Id,
  org: Named,
  role: Role,
  invitedBy: Type.String({ description: 'the name of the member who sent it' }),
  createdAt: Timestamp,
})
export const InvitationList = Type.Object({ items: Type.Array(Invitation) })
export const InvitationAccepted = Type.Object({ memberId: Id, orgId: Id })
export const InvitationDeclined = Type.Object({ declined: Type.Literal(true) })
export const Member = Type.Object(memberFields)
export const MemberCreate = Type.Object({
  email: Email,
  name: Type.Optional(Name),
  role: Role,
  workspaceIds: Type.Optional(Type.Array(Id, { maxItems: 100, description: "default: the org's default workspace" })),
})
export const MemberCreated = Type.Object({
  ...memberFields,
  signInLink: Nullable(
    Type.String({
      description:
        'one-time, for 24 hours, for this org alone; shown once, to a caller who stepped up, for a person who has no password that opens this org',
    }),
  ),
})
export const MemberPatch = Type.Object({ role: Role })

const apiKeyFields = {
  id: Id,
  name: Type.String(),
  prefix: Type.String(),
  last4: Type.String(),
  userId: Id,
  workspaceId: Nullable(Id),
  scopes: Type.Array(Type.String()),
  expiresAt: Nullable(Timestamp),
  lastUsedAt: Nullable(Timestamp),
  revokedAt: Nullable(Timestamp),
  createdAt: Timestamp,
}
export const ApiKey = Type.Object(apiKeyFields)
export const ApiKeyCreate = Type.Object({
  name: Name,
  workspaceId: Type.Optional(Nullable(Id)),
  scopes: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50, description: 'none: all that its user may do' }),
  ),
  expiresAt: Type.Optional(Nullable(Timestamp)),
})
export const ApiKeyCreated = Type.Object({ ...apiKeyFields, key: Type.String({ description: 'shown only here' }) })

export const AuditEntry = Type.Object({
  id: Id,
  at: Timestamp,
  actor: Type.Object({
    id: Nullable(Id),
    name: Type.String(),
    apiKeyId: Nullable(Id),
  }),
  action: Type.String(),
  resource: Type.Object({ type: Type.String(), id: Nullable(Type.String()) }),
  details: Type.Record(Type.String(), Type.Unknown()),
  ip: Nullable(Type.String()),
  requestId: Nullable(Type.String()),
  seq: Nullable(Type.Integer({ description: 'Place in the hash chain of the org; null for the first seconds' })),
  hash: Nullable(Type.String({ description: 'SHA-256 over the hash before it and this entry, in hexadecimal digits' })),
})
export const AuditQuery = Type.Object({
  ...CursorQuery.properties,
  action: Type.Optional(Type.String({ maxLength: 100 })),
  actorId: Type.Optional(Id),
  since: Type.Optional(Timestamp),
  until: Type.Optional(Timestamp),
})

export const SignIn = Type.Object({ email: Email, password: Type.String({ minLength: 1, maxLength: 128 }) })
export const SignInLink = Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) })
export const SignInCode = Type.Object({
  code: Type.Optional(Type.String({ minLength: 6, maxLength: 6, description: "the authenticator's" })),
  backupCode: Type.Optional(Type.String({ minLength: 1, maxLength: 32 })),
})
export const SignedIn = Type.Object({
  twoFactorRequired: Type.Boolean({ description: 'true: send a code to /auth/sign-in/totp, there is no session yet' }),
})

export const Session = Type.Object({
  user: Type.Object({
    id: Id,
    email: Type.String(),
    name: Type.String(),
    hasPassword: Type.Boolean(),
    twoFactorEnabled: Type.Boolean(),
  }),
  orgs: Type.Array(Type.Object({ id: Id, name: Type.String(), role: Role })),
  expiresAt: Timestamp,
  failedSignIns: Nullable(
    Type.Object(
      {
        count: Type.Integer({ description: 'failed attempts' }),
        lastAt: Timestamp,
        addresses: Type.Array(Type.String(), { description: 'the latest IP addresses that they came from' }),
      },
      {
        description:
          'attempts to sign in as this person that failed between the sign-in before this one and this one; null: none',
      },
    ),
  ),
})

export const StepUp = Type.Object({
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  totpCode: Type.Optional(Type.String({ minLength: 6, maxLength: 6 })),
})
export const StepUpToken = Type.Object({ token: Type.String(), expiresAt: Timestamp })

export const TwoFactorBegin = Type.Object({ password: Type.String({ minLength: 1, maxLength: 128 }) })
export const TwoFactorSecret = Type.Object({
  secret: Type.String({ description: 'base32, for typing' }),
  otpauthUri: Type.String({ description: 'for a QR code' }),
  backupCodes: Type.Array(Type.String(), { description: 'each signs in once in place of a code' }),
})
export const TwoFactorConfirm = Type.Object({ code: Type.String({ minLength: 6, maxLength: 6 }) })
export const TwoFactorEnabled = Type.Object({ enabled: Type.Literal(true) })

export const PasswordChange = Type.Object({
  currentPassword: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'not needed for the first password of this session' }),
  ),
  newPassword: Password,
  totpCode: Type.Optional(
    Type.String({
      minLength: 6,
      maxLength: 6,
      description:
        'a code of the authenticator; needed with the current password of another org, when that org asks for one',
    }),
  ),
})
export const PasswordChanged = Type.Object({ changed: Type.Literal(true) })
export const SignedOut = Type.Object({ signedOut: Type.Literal(true) })
