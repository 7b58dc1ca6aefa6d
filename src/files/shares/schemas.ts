import { Type } from 'typebox'
import { CreatedAt, Id, IdOf, Nullable, Patch, TimestampOf, UpdatedAt } from '../../platform/http/schemas.ts'
import { maxFileBytes } from '../uploads/limits.ts'

/** Path parameters of a share of a file. */
export const ShareParams = Type.Object({ id: IdOf('ID of the file.'), shareId: IdOf('ID of the share.') })

const Permission = Type.Enum(['view', 'download', 'upload'], {
  description:
    '`view`: previews, and pictures, PDF, audio and video as the browser displays them. `download`: previews and downloads. `upload`: uploads into a folder, without seeing what is in it.',
  examples: ['download'],
})

const expiresAt = (description: string) => Nullable(TimestampOf(description, '2099-01-01T00:00:00.000Z'))
const integer = (most: number, description: string, example: number | null = null) =>
  Nullable(Type.Integer({ minimum: 1, maximum: most, description, examples: [example] }))

const settings = {
  password: Nullable(
    Type.String({
      minLength: 8,
      maxLength: 128,
      description: 'Password that visitors must enter, 8–128 characters. It is never returned. Null: none.',
      examples: ['correct horse battery'],
    }),
  ),
  expiresAt: expiresAt('Time at which the link stops working. Null: never.'),
  maxDownloads: integer(
    1_000_000,
    'How often something can be downloaded, 1–1,000,000; with `download` only. Nothing is previewed then. Null: no limit.',
  ),
  maxUploads: integer(
    10_000,
    'How many files can be uploaded, 1–10,000; with `upload` only. Default 100. Null: no limit but the quotas.',
  ),
  maxFileBytes: integer(
    maxFileBytes,
    'Size of an uploaded file in bytes, 1–104,857,600; with `upload` only. Null: 104,857,600.',
  ),
  allowedTypes: Nullable(
    Type.Array(Type.String({ maxLength: 255 }), {
      minItems: 1,
      maxItems: 50,
      description:
        'Media types that can be uploaded, 1–50, or kinds of types that can be stored, such as `image/*`; with `upload` only. Null: all that can be stored.',
      examples: [null],
    }),
  ),
}

export const ShareCreate = Type.Object(
  { permission: Type.Optional(Permission), ...Type.Partial(Type.Object(settings)).properties },
  { examples: [{ permission: 'download', expiresAt: '2099-01-01T00:00:00.000Z' }] },
)

export const SharePatch = Patch(Type.Object(settings, { examples: [{ maxDownloads: null }] }))

const shareProperties = {
  id: Id,
  fileId: IdOf('ID of the shared file or folder.'),
  permission: Permission,
  hasPassword: Type.Boolean({ description: 'Whether visitors must enter a password.' }),
  expiresAt: expiresAt('Time at which the link stops working. Null: never.'),
  maxDownloads: integer(1_000_000, 'How often something can be downloaded, at most 1,000,000. Null: no limit.'),
  downloads: Type.Integer({ description: 'How often something was downloaded.', examples: [0] }),
  maxUploads: integer(10_000, 'How many files can be uploaded, at most 10,000. Null: no limit but the quotas.'),
  uploads: Type.Integer({ description: 'How many files were uploaded.', examples: [0] }),
  maxFileBytes: integer(maxFileBytes, 'Size of an uploaded file in bytes. Null: 104,857,600.'),
  allowedTypes: Nullable(
    Type.Array(Type.String(), {
      description: 'Media types that can be uploaded. Null: all that can be stored.',
      examples: [null],
    }),
  ),
  createdBy: IdOf(
    'ID of the user who created the share. The link works as long as this person may use files, and ends for good when they leave the org.',
  ),
  ended: Type.Boolean({
    description:
      'Whether the link has ended: it expired, its creator left the org, or the API key by which it was created was revoked or expired.',
    examples: [false],
  }),
  createdAt: CreatedAt,
  updatedAt: UpdatedAt,
  lastUsedAt: Nullable(TimestampOf('Time of the last download or upload. Null: never used.', null)),
}

export const Share = Type.Object(shareProperties, {
  description: 'A link to a file or folder for people without an account.',
})

export const ListedShare = Type.Object(
  {
    ...shareProperties,
    fileName: Type.String({ description: 'Name of the shared file or folder.', examples: ['Offer.pdf'] }),
    fileSource: Type.Enum(['upload', 'folder'], {
      description: '`upload`: a file. `folder`: a folder.',
      examples: ['upload'],
    }),
  },
  { description: 'A link with the name of its file or folder.' },
)

export const ShareCreated = Type.Object(
  {
    ...shareProperties,
    url: Type.String({
      description: 'The link. It is returned only once, because only a hash of it is stored.',
      examples: ['https://atrium.example.com/s/AaH8fehxdYezT5-fa47yEC-AaH8fehxdYezT5-fa47yEC_zrZ2A_Q'],
    }),
  },
  { description: 'A new share with its link.' },
)
