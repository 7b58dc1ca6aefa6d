import { Type } from 'typebox'
import { Nullable } from '../../platform/http/schemas.ts'
import { defineEvent } from '../define.ts'
import { ChangedFields, exampleId, IdOf, otherExampleId } from './fields.ts'

const parentId = Nullable(IdOf('ID of its folder. Null: the root folder of the org.'))
const projectId = Nullable(IdOf('ID of the project whose folder it is in. Null without one.'))
const previousParentId = Nullable(IdOf('ID of the folder before. Null: the root folder of the org.'))

const file = {
  fileId: IdOf('ID of the file.'),
  name: Type.String({ description: 'Name of the file.' }),
  mimeType: Nullable(Type.String(), 'Media type of its bytes. Null for a link.'),
  sizeBytes: Type.Integer({
    description: 'Size in bytes, the declared one while the upload is pending. 0 for a link.',
  }),
  parentId,
  projectId,
}

const version = Type.Integer({ description: 'Number of the version, from 1.' })

const share = Type.Object({
  fileId: IdOf('ID of the shared file or folder.'),
  name: Type.String({ description: 'Name of the file or folder.' }),
  shareId: IdOf('ID of the share.'),
  permission: Type.Enum(['view', 'download', 'upload'], { description: 'What visitors may do.' }),
  hasPassword: Type.Boolean({ description: 'Whether visitors must enter a password.' }),
  expiresAt: Nullable(Type.String({ format: 'date-time' }), 'Time at which the link stops working. Null: never.'),
})

const folder = {
  folderId: IdOf('ID of the folder.'),
  name: Type.String({ description: 'Name of the folder.' }),
  parentId,
  projectId,
}

const exampleFile = {
  fileId: exampleId,
  name: 'report.pdf',
  mimeType: 'application/pdf',
  sizeBytes: 48_213,
  parentId: otherExampleId,
  projectId: null,
}
const exampleShare = {
  fileId: exampleId,
  name: 'report.pdf',
  shareId: otherExampleId,
  permission: 'download',
  hasPassword: false,
  expiresAt: null,
} as const
const exampleFolder = { folderId: exampleId, name: 'Reports', parentId: null, projectId: null }

export const fileEvents = {
  'file.created': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'A file or a link was created, by an upload, an agent, or as a pending file whose bytes follow.',
    data: Type.Object({
      ...file,
      source: Type.Enum(['upload', 'link'], { description: '`link`: it shows the bytes of another file.' }),
      status: Type.Enum(['pending', 'ready'], {
        description: '`pending`: without bytes until a `file.updated` whose `changed` has `content`.',
      }),
    }),
    example: { ...exampleFile, source: 'upload', status: 'ready' },
  }),
  'file.updated': defineEvent({
    area: 'files',
    subject: 'file',
    description:
      'A file or a link was renamed or tagged, the bytes of a pending file were uploaded, or those of a file were replaced.',
    data: Type.Object({
      ...file,
      changed: Type.Array(Type.Enum(['name', 'tags', 'content']), {
        description: 'The fields that were sent to be changed, or `content` for uploaded or restored bytes.',
      }),
    }),
    example: { ...exampleFile, changed: ['name'] },
  }),
  'file.moved': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'A file or a link was moved to another folder.',
    data: Type.Object({ ...file, previousParentId }),
    example: { ...exampleFile, previousParentId: null },
  }),
  'file.deleted': defineEvent({
    area: 'files',
    subject: 'file',
    description:
      'A file or a link was deleted, in most cases into the trash. Files in a deleted folder are reported by the `folder.deleted` of that folder only.',
    data: Type.Object(file),
    example: exampleFile,
  }),
  'file.restored': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'A file or a link was restored from the trash, to its old folder, or to the root when that is gone.',
    data: Type.Object(file),
    example: exampleFile,
  }),
  'file.version_created': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'The bytes of a file were replaced. The bytes that it had are a version.',
    data: Type.Object({
      ...file,
      version,
      restoredFrom: Nullable(Type.Integer(), 'Number of the version whose bytes were restored. Null for new bytes.'),
    }),
    example: { ...exampleFile, version: 2, restoredFrom: null },
  }),
  'file.version_updated': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'The label of a version was changed.',
    data: Type.Object({ ...file, version, label: Nullable(Type.String(), 'Label of the version. Null without one.') }),
    example: { ...exampleFile, version: 1, label: 'Sent to the customer' },
  }),
  'file.version_deleted': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'A version was deleted by itself. Versions that are no longer kept are deleted without an event.',
    data: Type.Object({ ...file, version }),
    example: { ...exampleFile, version: 1 },
  }),
  'file.share_created': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'A link for people without an account to a file or folder was created.',
    data: share,
    example: exampleShare,
  }),
  'file.share_updated': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'The settings of a link for people without an account were changed.',
    data: share,
    example: { ...exampleShare, hasPassword: true },
  }),
  'file.share_revoked': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'A link for people without an account was revoked. Links that expire have no event.',
    data: share,
    example: exampleShare,
  }),
  'folder.created': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'A folder was created, also that of a new project.',
    data: Type.Object(folder),
    example: exampleFolder,
  }),
  'folder.updated': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'A folder was renamed or tagged.',
    data: Type.Object({ ...folder, changed: ChangedFields }),
    example: { ...exampleFolder, changed: ['name'] },
  }),
  'folder.access_changed': defineEvent({
    area: 'files',
    subject: 'file',
    description:
      'A folder was restricted, opened to everyone, or opened to others than before. Only those who may see the folder now get the event.',
    data: Type.Object({
      ...folder,
      restricted: Type.Boolean({ description: 'Whether only its grants and owners of the org may see it.' }),
    }),
    example: { ...exampleFolder, restricted: true },
  }),
  'folder.moved': defineEvent({
    area: 'files',
    subject: 'file',
    description: 'A folder was moved with its contents, which have no events of their own.',
    data: Type.Object({ ...folder, previousParentId }),
    example: { ...exampleFolder, previousParentId: otherExampleId },
  }),
  'folder.deleted': defineEvent({
    area: 'files',
    subject: 'file',
    description:
      'A folder was deleted with everything in it, in most cases into the trash. One event for all: its contents have none of their own.',
    data: Type.Object({
      ...folder,
      deleted: Type.Integer({ description: 'Number of files, links and folders in it that were deleted with it.' }),
    }),
    example: { ...exampleFolder, deleted: 128 },
  }),
  'folder.restored': defineEvent({
    area: 'files',
    subject: 'file',
    description:
      'A folder was restored from the trash with everything that was deleted with it, which has no events of its own.',
    data: Type.Object({
      ...folder,
      restored: Type.Integer({ description: 'Number of files, links and folders in it that were restored with it.' }),
    }),
    example: { ...exampleFolder, restored: 128 },
  }),
}
