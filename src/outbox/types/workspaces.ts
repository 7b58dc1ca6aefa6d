import { Type } from 'typebox'
import { defineEvent } from '../define.ts'
import { ChangedFields, exampleId, IdOf, otherExampleId } from './fields.ts'

const workspaceId = IdOf('ID of the workspace.')
const workspace = {
  workspaceId,
  name: Type.String({ description: 'Name of the workspace.' }),
  slug: Type.String({ description: 'Slug of the workspace.' }),
}
const exampleWorkspace = { workspaceId: exampleId, name: 'Research', slug: 'research' }
const membership = Type.Object({ workspaceId, userId: IdOf('ID of the person.') })
const exampleMembership = { workspaceId: exampleId, userId: otherExampleId }

export const workspaceEvents = {
  'workspace.created': defineEvent({
    area: 'workspaces',
    subject: 'workspace',
    description: 'A workspace was created. Its creator is a member of it without a `workspace.member_added`.',
    data: Type.Object(workspace),
    example: exampleWorkspace,
  }),
  'workspace.updated': defineEvent({
    area: 'workspaces',
    subject: 'workspace',
    description: 'A workspace was renamed.',
    data: Type.Object({ ...workspace, changed: ChangedFields }),
    example: { ...exampleWorkspace, changed: ['name'] },
  }),
  'workspace.deleted': defineEvent({
    area: 'workspaces',
    subject: 'workspace',
    description: 'A workspace was deleted, which hides what is in it.',
    data: Type.Object(workspace),
    example: exampleWorkspace,
  }),
  'workspace.member_added': defineEvent({
    area: 'workspaces',
    subject: 'workspace',
    description: 'A member of the org was added to a workspace.',
    data: membership,
    example: exampleMembership,
  }),
  'workspace.member_removed': defineEvent({
    area: 'workspaces',
    subject: 'workspace',
    description: 'A member of the org was removed from a workspace.',
    data: membership,
    example: exampleMembership,
  }),
}
