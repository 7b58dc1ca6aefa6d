import { Type } from 'typebox'
import { defineEvent } from '../define.ts'
import { ChangedFields, exampleId, IdOf, otherExampleId } from './fields.ts'

const project = {
  projectId: IdOf('ID of the project.'),
  name: Type.String({ description: 'Name of the project.' }),
  slug: Type.String({ description: 'Slug of the project.' }),
  folderId: IdOf('ID of its folder.'),
}

const exampleProject = { projectId: exampleId, name: 'Launch', slug: 'launch', folderId: otherExampleId }

export const projectEvents = {
  'project.created': defineEvent({
    area: 'projects',
    subject: 'project',
    description: 'A project was created. A `folder.created` reports its folder.',
    data: Type.Object(project),
    example: exampleProject,
  }),
  'project.updated': defineEvent({
    area: 'projects',
    subject: 'project',
    description: 'Fields of a project were changed. A new name also renames its folder, with a `folder.updated`.',
    data: Type.Object({ ...project, changed: ChangedFields }),
    example: { ...exampleProject, changed: ['instructions'] },
  }),
  'project.deleted': defineEvent({
    area: 'projects',
    subject: 'project',
    description: 'A project was deleted. A `folder.deleted` reports its folder and files.',
    data: Type.Object(project),
    example: exampleProject,
  }),
}
