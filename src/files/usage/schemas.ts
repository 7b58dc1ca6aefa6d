import { Type } from 'typebox'
import { Id, IdOf, ListQuery, Nullable, Page } from '../../platform/http/schemas.ts'

const files = Type.Integer({ description: 'Number of files and links.', examples: [128] })
const bytes = Type.Integer({
  description: 'Size of the files in bytes, without their former versions.',
  examples: [52_428_800],
})
const versionBytes = Type.Integer({
  description: 'Size of the former versions of the files in bytes.',
  examples: [1_048_576],
})

const FolderUsage = Type.Object(
  {
    id: Id,
    name: Type.String({ description: 'Name of the folder.', examples: ['Reports'] }),
    restricted: Type.Boolean({ description: 'Whether the folder is restricted itself.', examples: [false] }),
    files: { ...files, description: 'Number of files and links in the folder and the folders below it.' },
    folders: Type.Integer({ description: 'Number of folders below the folder.', examples: [3] }),
    bytes,
    versionBytes,
  },
  { description: 'A folder with what is stored in it and in the folders below it.' },
)

export const Usage = Type.Object(
  {
    folderId: Nullable(IdOf('ID of the folder. Null: the root of the org.')),
    below: Type.Object(
      {
        files,
        folders: Type.Integer({ description: 'Number of folders.', examples: [12] }),
        bytes,
        versionBytes,
      },
      { description: 'Everything in the folder and in the folders below it.' },
    ),
    direct: Type.Object(
      { files, bytes, versionBytes },
      { description: 'What is in the folder itself, without the folders below it.' },
    ),
    trash: Type.Unsafe<{ files: number; bytes: number } | null>({
      anyOf: [
        Type.Object({
          files: Type.Integer({ description: 'Number of files, folders and links.', examples: [4] }),
          bytes: Type.Integer({ description: 'Size in bytes, with former versions.', examples: [2_048] }),
        }),
        { type: 'null' },
      ],
      description: 'The trash of the org, which counts towards the quotas. Null for a folder.',
    }),
    isComplete: Type.Boolean({
      description:
        'Whether everything was counted. False when there are more than 100,000 folders: figures are too low.',
      examples: [true],
    }),
    ...Page(FolderUsage).properties,
  },
  { description: 'What is stored in a folder, by its subfolders.' },
)

export const UsageQuery = Type.Object({
  ...ListQuery.properties,
  parentId: Type.Optional(IdOf('ID of the folder. Default: the root of the org.')),
})
