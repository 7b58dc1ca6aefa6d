import { Type } from 'typebox'
import type { Static } from 'typebox'
import { IdOf, Nullable } from '../../platform/http/schemas.ts'

const kind = Type.Union([Type.Literal('user'), Type.Literal('workspace'), Type.Literal('role')], {
  description: 'Whom it names: a person, the members of a workspace, or all members of the org with a role.',
})
const subject = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'The ID of the user or workspace, or the role: `admin`, `billing_manager` or `member`. At most 64 characters.',
  examples: ['member'],
})
const accessOf = (description: string) =>
  Type.Union([Type.Literal('read'), Type.Literal('write')], { description, examples: ['read'] })
const grantAccess = accessOf('`read`: see and download. `write`: also change, share and delete.')

const NamedGrant = Type.Object({
  kind,
  subject,
  name: Nullable(
    Type.String({ examples: ['Members'] }),
    'Name of the person, workspace or role. Null for a workspace that the caller cannot see.',
  ),
  access: grantAccess,
})

const grantsOf = (description: string) => Type.Array(NamedGrant, { description })

export const FolderAccess = Type.Object(
  {
    restricted: Type.Boolean({ description: 'Whether the folder is restricted itself.', examples: [true] }),
    grants: grantsOf('Whom the folder is open to, besides owners of the org. Empty when it is not restricted.'),
    inherited: Type.Array(
      Type.Object({
        folderId: IdOf('ID of the restricted folder.'),
        name: Type.String({ description: 'Name of the restricted folder.', examples: ['Salaries'] }),
        grants: grantsOf('Whom it is open to, besides owners of the org.'),
      }),
      {
        description:
          'The restricted folders that contain it, outermost first. Whoever sees it has access to all of them.',
      },
    ),
    access: accessOf('What the caller may do with it.'),
    canManage: Type.Boolean({ description: 'Whether the caller may change who sees it. False for files and links.' }),
  },
  { description: 'Who may see a file or folder.' },
)

export const FolderAccessPut = Type.Object(
  {
    restricted: Type.Boolean({
      description: 'True: only the grants and owners of the org see the folder. False: everyone who sees its parent.',
    }),
    grants: Type.Optional(
      Type.Array(Type.Object({ kind, subject, access: grantAccess }), {
        maxItems: 100,
        description: 'Whom to open the folder to, at most 100; replaces all. Only with `restricted`. Default: nobody.',
      }),
    ),
  },
  { examples: [{ restricted: true, grants: [{ kind: 'role', subject: 'admin', access: 'write' }] }] },
)
export type FolderAccessPut = Static<typeof FolderAccessPut>
