import { Type } from 'typebox'
import { CreatedAt, Id, Nullable } from '../../platform/http/schemas.ts'
import { keyProviders } from './provider-keys.ts'

const label = { description: 'Label of the key, at most 200 characters.', examples: ['Team key'] }

export const ProviderKey = Type.Object(
  {
    id: Id,
    provider: Type.String({ description: 'Name of the model provider.', examples: ['openai'] }),
    label: Nullable(Type.String(label)),
    fingerprint: Type.String({
      description: 'Beginning of the SHA-256 of the key in hexadecimal, to tell keys apart.',
      examples: ['221df437bc4f8c4d'],
    }),
    createdAt: CreatedAt,
  },
  { description: "The org's own key for a model provider. The key itself is never returned." },
)

export const ProviderKeyCreate = Type.Object({
  provider: Type.Enum([...keyProviders], { description: 'Model provider that issued the key.' }),
  key: Type.String({
    minLength: 16,
    maxLength: 500,
    pattern: '^[\\x21-\\x7e]+$',
    description: 'The key: 16–500 printable ASCII characters without spaces. Stored encrypted.',
    examples: ['sk-proj-Zk3v8Qp1mN7xT5bR'],
  }),
  label: Type.Optional(
    Nullable(Type.String({ maxLength: 200, ...label, description: `${label.description} Default: none.` })),
  ),
})
