import { Type } from 'typebox'

export const ArchiveQuery = Type.Object({
  ids: Type.String({
    minLength: 36,
    maxLength: 3_699,
    description: 'IDs of 1–100 files and folders of 36 characters, separated by commas: 36–3,699 characters.',
    examples: ['01a1fc7d-3b9c-7358-af36-f0a31b6ad3e1'],
  }),
})
