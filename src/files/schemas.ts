import { Type } from 'typebox'
import type { Static } from 'typebox'
import { CreatedAt, Id, IdOf, ListQuery, Nullable, Patch, TimestampOf, UpdatedAt } from '../platform/http/schemas.ts'
import { FileFilters } from './listing/schemas.ts'
import { maxNameLength } from './tree/names.ts'
import { DirectUpload } from './direct/schemas.ts'
import { largestFileBytes } from './uploads/limits.ts'

const nameRule = 'Name, 1–255 characters without NUL, CR or LF.'
const Name = Type.String({
  minLength: 1,
  maxLength: maxNameLength,
  description: nameRule,
  examples: ['report.txt'],
})
const mimeType = {
  description: 'Media type in lower case, without parameters. Must be one of the types that can be stored.',
  examples: ['text/plain'],
}
const Source = (description: string) =>
  Type.Union([Type.Literal('upload'), Type.Literal('folder'), Type.Literal('link')], { description })
const tagList = { description: 'Tags, at most 50 of 1–64 characters each.', examples: [['q3', 'finance']] }

export const File = Type.Object(
  {
    id: Id,
    name: Type.String({ description: nameRule, examples: ['report.txt'] }),
    mimeType: Nullable(
      Type.String({ description: 'Media type. Null for folders and links.', examples: ['text/plain'] }),
    ),
    size: Type.Integer({ description: 'Size in bytes. 0 for folders and links.', examples: [42] }),
    parentId: Nullable(IdOf('ID of the folder that contains the file. Null: the root of the org.')),
    projectId: Nullable(
      Type.String({
        format: 'uuid',
        description: 'ID of the project whose folder contains the file. Null without one.',
        examples: [null],
      }),
    ),
    source: Source('Kind of the record: a file, a folder or a link to a file.'),
    targetFileId: Nullable(
      Type.String({
        format: 'uuid',
        description:
          'ID of the file that a link points to. Null for files and folders, and when the caller may not see that file.',
        examples: [null],
      }),
    ),
    tags: Type.Array(Type.String(), tagList),
    isProtected: Type.Boolean({
      description: 'Whether it is the folder of a project, which cannot be renamed, moved or deleted by itself.',
    }),
    restricted: Type.Optional(
      Type.Boolean({
        description:
          'Whether the folder is restricted itself: only its grants and owners of the org see it. Only for folders.',
        examples: [false],
      }),
    ),
    status: Type.Union([Type.Literal('pending'), Type.Literal('ready')], {
      description: '`pending` until the bytes are stored. Pending files are removed after 24 hours.',
      examples: ['ready'],
    }),
    storageKey: Nullable(
      Type.String({
        description: 'Key of the stored object. Files with the same bytes share it. Null while pending.',
        examples: ['01a1fc7d-e87c-7b45-ac05-ad389d58904e/01a1fc77-215c-7176-a575-9ea8cb68724b'],
      }),
    ),
    storageUrl: Nullable(
      Type.String({
        description: 'URL that downloads the file with an API key. Null for folders and in the trash.',
        examples: ['https://atrium.example.com/api/v1/files/01a1fc7d-3b9c-7358-af36-f0a31b6ad3e1?download=true'],
      }),
    ),
    contentHash: Nullable(
      Type.String({
        description: 'SHA-256 of the bytes in hexadecimal. Null while pending, and for folders and links.',
        examples: ['873079245d42e6f6a4e09fb865de90f4d29acbddd653d06c8f3a4b68dde43ad2'],
      }),
    ),
    favorite: Type.Optional(
      Type.Boolean({
        description:
          'True for favorites of the caller, in lists, except for the trash, and when it is retrieved or marked by itself. Otherwise absent.',
        examples: [true],
      }),
    ),
    recentAt: Type.Optional(
      TimestampOf('Time when the caller last uploaded, changed or opened the file. Only in the list of recent files.'),
    ),
    path: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Names of the folders that contain the file, outermost first, without the root of the org; the innermost 20 of more. Only in lists with `search` or a filter, and in that of recent files.',
        examples: [['Reports', '2026']],
      }),
    ),
    version: Type.Integer({
      description: 'Number of the current version. 1 until the content is replaced for the first time.',
      examples: [1],
    }),
    createdBy: IdOf('ID of the user who created the file.'),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
    deletedAt: Type.Optional(TimestampOf('Time of the deletion. Only in the trash.')),
    deletedBy: Type.Optional(IdOf('ID of the user who deleted the file. Only in the trash.')),
    purgeAt: Type.Optional(TimestampOf('Time from which the file cannot be restored. Only in the trash.')),
  },
  { description: 'A file, a folder or a link to a file.' },
)

export const FileCreate = Type.Object(
  {
    source: Type.Optional(Source('Kind of the record. Default `upload`.')),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: maxNameLength,
        description: `${nameRule} Required for files and folders. Default for a link: the name of its target.`,
        examples: ['data.csv'],
      }),
    ),
    mimeType: Type.Optional(
      Type.String({
        maxLength: 255,
        description: `${mimeType.description} At most 255 characters. Required for files.`,
        examples: ['text/csv'],
      }),
    ),
    size: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: largestFileBytes,
        description:
          'Size in bytes, 0–104,857,600, with direct uploads up to `UPLOAD_MAX_BYTES` (at most 5,497,558,138,880). Required for files.',
        examples: [8],
      }),
    ),
    parentId: Type.Optional(
      Nullable(IdOf('ID of the containing folder. Default, also for null: the root of the org.')),
    ),
    projectId: Type.Optional(
      Nullable(
        IdOf(
          'ID of the project to put the file into. With `parentId`, that folder must be in the project. Default, also for null: none.',
        ),
      ),
    ),
    targetFileId: Type.Optional(IdOf('ID of the file that a link points to. Required for links; not a folder.')),
  },
  { examples: [{ name: 'data.csv', mimeType: 'text/csv', size: 8 }] },
)
export type FileCreate = Static<typeof FileCreate>

export const FileCreated = Type.Object(
  {
    file: File,
    uploadUrl: Type.Optional(
      Type.String({
        description:
          'Signed URL that accepts the bytes by PUT, within an hour. Present for pending files only. When `upload` is present, it belongs to the object store, the upload must be completed afterwards, and it is missing for files of several parts.',
        examples: [
          'https://atrium.example.com/api/v1/files/01a1fc7d-3b9c-7358-af36-f0a31b6ad3e1/content?token=eyJhbGciOi',
        ],
      }),
    ),
    upload: Type.Optional(DirectUpload),
  },
  { description: 'The new record.' },
)

// No `type`: the form is a stream, so validation sees null here and the parts are checked as they arrive.
export const FileUpload = Type.Unsafe<unknown>({
  properties: {
    file: { type: 'string', format: 'binary', description: 'The bytes, at most 100 MB, with their media type.' },
    parentId: IdOf('ID of the containing folder. Default: the root of the org.'),
    projectId: IdOf('ID of the project to put the file into. Default: none.'),
  },
  required: ['file'],
})

export const FilePatch = Type.Object({
  name: Type.Optional(Name),
  parentId: Type.Optional(Nullable(IdOf('ID of the folder to move the file to. Null: the root of the org.'))),
  tags: Type.Optional(
    Type.Array(Type.String(), { ...tagList, description: `${tagList.description} Replaces all tags.` }),
  ),
})
export type FilePatch = Static<typeof FilePatch>

export const FileListQuery = Type.Object({
  ...ListQuery.properties,
  // A cursor contains the last name of its page, which can have 255 characters of four bytes.
  cursor: Type.Optional(
    Type.String({
      maxLength: 4_096,
      description: '`nextCursor` of the previous page, at most 4,096 characters. Omit it for the first page.',
    }),
  ),
  search: Type.Optional(
    Type.String({
      maxLength: maxNameLength,
      description: 'Return only files whose name contains this text, at most 255 characters. Letter case is ignored.',
    }),
  ),
  recursive: Type.Boolean({
    default: false,
    description: 'With `search` or a filter: also search the folders below. Default false.',
  }),
  ...FileFilters.properties,
  sort: Type.Optional(
    Type.Union([Type.Literal('name'), Type.Literal('size'), Type.Literal('mimeType'), Type.Literal('updatedAt')], {
      description:
        'Field to sort by. Folders come first; they are sorted by name when the field is `size` or `mimeType`, and links come last when it is `mimeType`. A cursor is valid for the same `sort` and `order`. Default `name`, ignoring letter case.',
    }),
  ),
  order: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
      description: 'Ascending or descending order of the field. Default `asc`.',
    }),
  ),
  parentId: Type.Optional(IdOf('ID of the folder to list. Default: the root of the org.')),
  projectId: Type.Optional(IdOf('ID of the project whose folder to list.')),
  recent: Type.Boolean({
    default: false,
    description:
      'List the files of all folders that the caller uploaded, changed or opened last instead of a folder, the latest first, at most 100. Not with `sort`, `order`, `trashed`, a folder, `search` or a filter. Default false.',
  }),
  trashed: Type.Boolean({
    default: false,
    description:
      'List the trash instead of a folder: what was deleted by itself, the latest deletion first. Not with `sort`, `order` or other filters. Default false.',
  }),
})
export type FileListQuery = Omit<Static<typeof FileListQuery>, 'recent' | 'trashed'>

export const FileQuery = Type.Object({
  download: Type.Boolean({
    default: false,
    description: 'Redirect to a signed download URL that is valid for 5 minutes. Default false.',
  }),
  inline: Type.Boolean({
    default: false,
    description: 'With `download`: return the bytes for display instead of a redirect. Default false.',
  }),
})

export const FileDeleteQuery = Type.Object({
  permanent: Type.Boolean({
    default: false,
    description: 'Delete at once instead of into the trash, or out of the trash. Default false.',
  }),
  trashed: Type.Boolean({
    default: false,
    description:
      'Delete only if it is in the trash, so that a file that somebody has restored meanwhile stays. Requires `permanent`. Default false.',
  }),
})

export const ContentQuery = Type.Object({
  token: Type.Optional(Type.String({ description: 'Token of the signed URL.' })),
})

export const Preview = Type.Object(
  {
    fileId: IdOf('ID of the file. For a link, of its target.'),
    name: Type.String({ description: 'Name of the file.', examples: ['data.csv'] }),
    mimeType: Type.String({ description: 'Media type of the file.', examples: ['text/csv'] }),
    kind: Type.Union([Type.Literal('text'), Type.Literal('document'), Type.Literal('spreadsheet')], {
      description: '`text` has `text`. `document` has `text` and mostly `html`. `spreadsheet` has `sheets`.',
    }),
    truncated: Type.Boolean({ description: 'Whether the file has more content than the preview.' }),
    text: Type.Optional(Type.String({ description: 'Text of the file, at most 512 KB.', examples: ['Hello'] })),
    html: Type.Optional(
      Type.String({ description: 'Sanitised HTML of a document. Absent for PDF.', examples: ['<p>Hello</p>'] }),
    ),
    sheets: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ description: 'Name of the sheet.' }),
          rows: Type.Array(Type.Array(Type.String()), {
            description: 'Cells as displayed, at most 1,000 rows of 100 columns.',
          }),
          rowCount: Type.Integer({ description: 'Number of rows in the file.' }),
          columnCount: Type.Integer({ description: 'Number of columns in the file.' }),
          truncated: Type.Boolean({ description: 'Whether the sheet has more rows or columns.' }),
        }),
        { description: 'Sheets of a spreadsheet, at most 20.' },
      ),
    ),
  },
  {
    description: 'A preview of a file.',
    examples: [
      {
        fileId: '01a1fc7d-3b9c-7358-af36-f0a31b6ad3e1',
        name: 'data.csv',
        mimeType: 'text/csv',
        kind: 'spreadsheet',
        truncated: false,
        sheets: [
          {
            name: 'data.csv',
            rows: [
              ['a', 'b'],
              ['1', '2'],
            ],
            rowCount: 2,
            columnCount: 2,
            truncated: false,
          },
        ],
      },
    ],
  },
)

const projectDescription = {
  description: 'Description, at most 5,000 characters.',
  examples: ['Everything for the launch'],
}
const instructions = {
  description: 'Instructions for agents that work in the project, at most 20,000 characters.',
  examples: ['Write in British English.'],
}

const noDefault = ({ description }: { description: string }) => ({ description: `${description} Default: none.` })

export const Project = Type.Object(
  {
    id: Id,
    name: Type.String({ description: nameRule, examples: ['Launch'] }),
    slug: Type.String({
      description:
        'Short name, made from the first name, with a number or random characters if needed. It never changes.',
      examples: ['launch'],
    }),
    description: Nullable(Type.String(projectDescription)),
    instructions: Nullable(Type.String(instructions)),
    folderId: IdOf('ID of the protected folder of the project.'),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  },
  { description: 'A project: a protected folder with instructions for agents.' },
)

export const ProjectCreate = Type.Object({
  name: Type.String({ minLength: 1, maxLength: maxNameLength, description: nameRule, examples: ['Launch'] }),
  description: Type.Optional(
    Nullable(Type.String({ maxLength: 5_000, ...projectDescription, ...noDefault(projectDescription) })),
  ),
  instructions: Type.Optional(
    Nullable(Type.String({ maxLength: 20_000, ...instructions, ...noDefault(instructions) })),
  ),
})
export type ProjectCreate = Static<typeof ProjectCreate>

export const ProjectPatch = Patch(ProjectCreate)
export type ProjectPatch = Static<typeof ProjectPatch>
