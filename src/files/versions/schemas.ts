import { Type } from 'typebox'
import { CreatedAt, IdOf, Nullable, Patch } from '../../platform/http/schemas.ts'

/** Path parameters of a version of a file. */
export const VersionParams = Type.Object({
  id: IdOf('ID of the file.'),
  version: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Number of the version, from 1 to 2,147,483,647.',
  }),
})

const label = { minLength: 1, maxLength: 255, description: 'Label, 1–255 characters.', examples: ['Final draft'] }

export const Version = Type.Object(
  {
    version: Type.Integer({ description: 'Number of the version, from 1. It is never used again.', examples: [2] }),
    isCurrent: Type.Boolean({ description: 'Whether it is the content of the file.' }),
    label: Nullable(
      Type.String({
        description: 'Label. A version with a label is kept until somebody deletes it. Null without one.',
        examples: [null],
      }),
    ),
    mimeType: Type.String({ description: 'Media type of the bytes.', examples: ['text/plain'] }),
    size: Type.Integer({ description: 'Size in bytes.', examples: [42] }),
    contentHash: Type.String({
      description: 'SHA-256 of the bytes in hexadecimal.',
      examples: ['873079245d42e6f6a4e09fb865de90f4d29acbddd653d06c8f3a4b68dde43ad2'],
    }),
    createdBy: IdOf('ID of the user who uploaded or restored the version.'),
    createdAt: CreatedAt,
  },
  { description: 'A version of the content of a file.' },
)

export const VersionPatch = Type.Object({
  label: Nullable(Type.String({ ...label, description: `${label.description} Null removes it.` })),
})

export const Retention = Type.Object(
  {
    versionsKept: Type.Integer({ description: 'Former versions without a label kept of each file.', examples: [100] }),
    versionsDays: Type.Integer({
      description: 'Days for which a version without a label is kept after a newer one has replaced it. 0: no limit.',
      examples: [90],
    }),
    defaults: Type.Object(
      {
        versionsKept: Type.Integer({ description: '`versionsKept` of orgs that have not set it.', examples: [100] }),
        versionsDays: Type.Integer({ description: '`versionsDays` of orgs that have not set it.', examples: [90] }),
      },
      { description: 'The configuration of the server.' },
    ),
  },
  { description: 'How long versions are kept.' },
)

export const RetentionPatch = Patch(
  Type.Object({
    versionsKept: Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 1_000,
        description:
          'Former versions without a label to keep of each file, 0–1,000. Null: as the server is configured.',
        examples: [20],
      }),
    ),
    versionsDays: Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 3_650,
        description:
          'Days to keep a version without a label after a newer one has replaced it, 0–3,650; 0: no limit. Null: as the server is configured.',
        examples: [365],
      }),
    ),
  }),
)
