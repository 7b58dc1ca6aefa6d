import { Type } from 'typebox'
import { IdOf, TimestampOf } from '../../platform/http/schemas.ts'

/** Groups of types by which lists are filtered. `other` has the types of no other group. */
export const typeGroups = [
  'folder',
  'image',
  'video',
  'audio',
  'document',
  'spreadsheet',
  'text',
  'archive',
  'other',
] as const
export type TypeGroup = (typeof typeGroups)[number]

export const FileFilters = Type.Object({
  favorite: Type.Optional(
    Type.Boolean({
      description: 'Return only favorites of the caller, those of all folders with `recursive`. Default false.',
    }),
  ),
  type: Type.Optional(
    Type.Unsafe<TypeGroup>({
      type: 'string',
      enum: typeGroups,
      description:
        'Return only folders, or only files whose media type is in this group. `document` has PDF, text documents and presentations, `text` source code and data as well, `other` what is in no other group. Links have no type. Default: all.',
      examples: ['image'],
    }),
  ),
  tag: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Return only files with this tag, 1–64 characters. Letter case matters. Default: all.',
      examples: ['finance'],
    }),
  ),
  createdBy: Type.Optional(IdOf('Return only files that this user created. Default: all.')),
  createdSince: Type.Optional(TimestampOf('Return only files that were created at this time or later. Default: all.')),
  createdUntil: Type.Optional(TimestampOf('Return only files that were created before this time. Default: all.')),
  updatedSince: Type.Optional(
    TimestampOf('Return only files whose last change was at this time or later. Default: all.'),
  ),
  updatedUntil: Type.Optional(TimestampOf('Return only files whose last change was before this time. Default: all.')),
})
