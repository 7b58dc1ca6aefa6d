import type { OpenApi } from './openapi.ts'

export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  description?: string
  format?: string
}

export interface Parameter {
  $ref?: string
  in?: string
  name: string
  required?: boolean
  schema: Schema
  description?: string
}

export interface Content {
  $ref?: string
  content?: Record<string, { schema?: Schema }>
}

export interface Operation {
  summary?: string
  parameters?: Parameter[]
  requestBody?: Content
  responses: Record<string, Content>
}

const prefix = '/api/v1'

/** `#/components/schemas/File` → `File` */
export const nameOf = ({ $ref = '' }: { $ref?: string }): string => $ref.slice($ref.lastIndexOf('/') + 1)

/** The options of the client for the headers that an operation documents. */
const optionOfHeader: Record<string, string> = {
  IdempotencyKey: 'idempotencyKey',
  IfMatch: 'ifMatch',
  StepUpToken: 'stepUpToken',
}

export const optionsOf = ({ parameters = [] }: Operation): string[] =>
  parameters.flatMap((one) => optionOfHeader[nameOf(one)] ?? []).toSorted()

/** `#/components/responses/TooManyRequests` → `TOO_MANY_REQUESTS` */
export const errorsOf = ({ responses }: Operation): string[] =>
  Object.values(responses)
    .filter(({ $ref }) => $ref !== undefined)
    .map((response) =>
      nameOf(response)
        .replaceAll(/(?<=.)(?=[A-Z])/g, '_')
        .toUpperCase(),
    )

/** Every operation of the API with a JSON response by its route, such as `GET /files/:id`. */
export const operationsOf = ({ paths }: OpenApi): [route: string, operation: Operation][] =>
  Object.entries(paths)
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, operations]) =>
      Object.entries(operations as unknown as Record<string, Operation>)
        .filter(([method]) => method !== 'head' && method !== 'options')
        .map(([method, operation]): [string, Operation] => [
          `${method.toUpperCase()} ${path.slice(prefix.length).replaceAll(/\{(\w+)\}/g, ':$1')}`,
          operation,
        ]),
    )
