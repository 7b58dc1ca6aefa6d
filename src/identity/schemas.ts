import { Type } from 'typebox'
import { Id, Nullable } from '../platform/schemas.ts'

const Named = Type.Object({ id: Id, name: Type.String() })

export const Me = Type.Object({
  user: Type.Object({ id: Id, email: Type.String(), name: Type.String() }),
  org: Named,
  workspace: Nullable(Named),
  role: Type.String(),
  permissions: Type.Array(Type.String()),
  apiKey: Nullable(Type.Object({ id: Id, name: Type.String(), scopes: Type.Array(Type.String()) })),
})
