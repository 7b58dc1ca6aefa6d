import { Type } from 'typebox'

/** Routes of visitors are no part of the API reference. */
export const hidden = (summary: string) => ({ hide: true, summary, response: { 200: Type.Unknown() } })

export const VisitParams = Type.Object({ token: Type.String({ maxLength: 64 }) })

export const FileParams = Type.Object({ ...VisitParams.properties, id: Type.String({ format: 'uuid' }) })

export const VisitQuery = Type.Object({
  access: Type.Optional(Type.String({ maxLength: 64 })),
  item: Type.Optional(Type.String({ format: 'uuid' })),
  page: Type.Integer({ minimum: 1, maximum: 1_000, default: 1 }),
  uploaded: Type.Optional(Type.String({ maxLength: 8 })),
  download: Type.Boolean({ default: false }),
})
