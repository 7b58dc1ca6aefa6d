import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Nullable, TimestampOf } from '../../platform/http/schemas.ts'

const maxParts = 10_000
/** URLs in one request. */
export const maxUrls = 100

const PartNumber = (description: string) => Type.Integer({ minimum: 1, maximum: maxParts, description, examples: [1] })

export const DirectUpload = Type.Object(
  {
    state: Type.Union(
      [Type.Literal('open'), Type.Literal('verifying'), Type.Literal('ready'), Type.Literal('failed')],
      {
        description:
          '`open`: bytes are missing. `verifying`: all have arrived and are being checked. `ready`: the file has them. `failed`: they are not those that were declared, and are deleted with the file.',
        examples: ['open'],
      },
    ),
    partBytes: Type.Integer({
      description: 'Size of every part except the last one in bytes. A file of at most 100 MB is one part.',
      examples: [8],
    }),
    partCount: Type.Integer({ description: 'Number of parts, at most 10,000.', examples: [1] }),
    receivedParts: Type.Optional(
      Type.Array(PartNumber('Number of a part, at most 10,000.'), {
        description:
          'Numbers of the parts that have arrived, in ascending order. Only when an open upload is retrieved.',
        examples: [[]],
      }),
    ),
    error: Nullable(Type.String({ description: 'Why the upload has failed. Null in other states.', examples: [null] })),
    expiresAt: TimestampOf(
      'When an open upload is deleted with its file: 24 hours after the last request for URLs of parts, and at most 7 days after its creation. Failed and ready uploads are forgotten then.',
    ),
  },
  { description: 'An upload whose bytes are sent to the object store.' },
)

export const DirectUploadQuery = Type.Object({
  waitSeconds: Type.Integer({
    minimum: 0,
    maximum: 25,
    default: 0,
    description:
      'How many seconds to wait for the verification to end, 0–25. By default the state is returned at once, as it is when the upload is not `verifying`, or when the caller has 50 requests that wait.',
    examples: [25],
  }),
})

export const DirectPartsRequest = Type.Object({
  numbers: Type.Array(PartNumber('Number of a part, from 1 to `partCount`, which is at most 10,000.'), {
    minItems: 1,
    maxItems: maxUrls,
    description: 'Numbers of 1–100 parts. A part can be sent again until the upload is completed.',
    examples: [[1]],
  }),
})
export type DirectPartsRequest = Static<typeof DirectPartsRequest>

export const DirectParts = Type.Object(
  {
    parts: Type.Array(
      Type.Object({
        number: PartNumber('Number of the part, at most 10,000.'),
        startByte: Type.Integer({ description: 'Place of its first byte in the file, from 0.', examples: [0] }),
        sizeBytes: Type.Integer({ description: 'Size in bytes, which the request must have exactly.', examples: [8] }),
        url: Type.String({
          description:
            'Signed URL that accepts the bytes of the part by PUT, for one hour. It needs no other credentials.',
          examples: [
            'https://bucket.s3.eu-central-1.amazonaws.com/01a1/01a2?partNumber=1&uploadId=x&X-Amz-Signature=y',
          ],
        }),
      }),
      { description: 'The parts in the order of the request, each once.' },
    ),
    expiresAt: TimestampOf('When the upload is deleted unless URLs are requested again.'),
  },
  { description: 'URLs of parts.' },
)
