import { Type } from 'typebox'
import { defineEvent } from '../define.ts'
import { ChangedFields, exampleId, IdOf, otherExampleId } from './fields.ts'

// The roles are spelled out, because identity is a layer above.
const roles = ['owner', 'admin', 'billing_manager', 'member'] as const
const role = Type.Enum([...roles], { description: 'Role in the org.' })

const member = {
  memberId: IdOf('ID of the membership, also of its invitation before.'),
  userId: IdOf('ID of the person.'),
}
const exampleMember = { memberId: exampleId, userId: otherExampleId }
const workspaceIds = Type.Array(IdOf('ID of a workspace.'), {
  description: 'The workspaces of the member. They have no `workspace.member_added` of their own.',
})

export const memberEvents = {
  'member.invited': defineEvent({
    area: 'members',
    subject: 'member',
    description: 'A person was invited, who becomes a member by accepting.',
    data: Type.Object({ ...member, role, workspaceIds }),
    example: { ...exampleMember, role: 'member', workspaceIds: [] },
  }),
  'member.accepted': defineEvent({
    area: 'members',
    subject: 'member',
    description: 'A person accepted an invitation and is a member now.',
    data: Type.Object({ ...member, role, workspaceIds }),
    example: { ...exampleMember, role: 'member', workspaceIds: [] },
  }),
  'member.declined': defineEvent({
    area: 'members',
    subject: 'member',
    description: 'A person declined an invitation.',
    data: Type.Object(member),
    example: exampleMember,
  }),
  'member.added': defineEvent({
    area: 'members',
    subject: 'member',
    description: 'A person became a member without an invitation.',
    data: Type.Object({ ...member, role, workspaceIds }),
    example: { ...exampleMember, role: 'admin', workspaceIds: [] },
  }),
  'member.role_changed': defineEvent({
    area: 'members',
    subject: 'member',
    description: 'The role of a member was changed.',
    data: Type.Object({
      ...member,
      role,
      previousRole: Type.Enum([...roles], { description: 'The role before.' }),
    }),
    example: { ...exampleMember, role: 'admin', previousRole: 'member' },
  }),
  'member.updated': defineEvent({
    area: 'members',
    subject: 'member',
    description: 'A member changed their own name in the org.',
    data: Type.Object({ ...member, name: Type.String({ description: 'Name of the member.' }), changed: ChangedFields }),
    example: { ...exampleMember, name: 'Ada Lovelace', changed: ['name'] },
  }),
  'member.removed': defineEvent({
    area: 'members',
    subject: 'member',
    description:
      'A member was removed, or an invitation was withdrawn. API keys and workspace memberships end with the membership, without events of their own.',
    data: Type.Object({
      ...member,
      role,
      status: Type.Enum(['active', 'invited'], { description: '`invited`: the invitation was withdrawn.' }),
    }),
    example: { ...exampleMember, role: 'member', status: 'active' },
  }),
}
