import { Type } from 'typebox'

export const exampleId = '01a1fc7d-9fd0-79dc-a335-45f9cc19b81e'
export const otherExampleId = '01a1fc7d-a2c4-7d10-8b6e-0f3a5c7e9d21'

export const IdOf = (description: string) => Type.String({ format: 'uuid', description })

export const ChangedFields = Type.Array(Type.String(), {
  description: 'Names of the fields that were sent to be changed.',
})
