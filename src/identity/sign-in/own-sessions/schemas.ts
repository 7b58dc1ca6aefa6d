import { Type } from 'typebox'
import { IdOf, Nullable, TimestampOf } from '../../../platform/http/schemas.ts'

export const OwnSession = Type.Object(
  {
    id: IdOf('ID of the session.'),
    isCurrent: Type.Boolean({ description: 'Whether the request was made with this session.', examples: [true] }),
    ipAddress: Nullable(
      Type.String({ description: 'IP address at the sign-in. Null when unknown.', examples: ['203.0.113.7'] }),
    ),
    userAgent: Nullable(
      Type.String({
        description: '`User-Agent` of the browser at the sign-in. Null when unknown.',
        examples: ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'],
      }),
    ),
    createdAt: TimestampOf('Time of the sign-in.', '2026-11-20T08:15:30.125Z'),
    lastUsedAt: TimestampOf('Time of the last use, accurate to a day.', '2026-11-21T14:02:11.480Z'),
    expiresAt: TimestampOf('Time of expiry, unless the session is used before.', '2026-11-28T14:02:11.480Z'),
  },
  { description: 'A session of a person in a browser.' },
)
export const OwnSessionList = Type.Object(
  {
    items: Type.Array(OwnSession, {
      description: 'Your sessions, at most 100: the current one first, then those that were used last.',
    }),
  },
  { description: 'Your sessions.' },
)
export const SessionsEnded = Type.Object(
  { ended: Type.Integer({ description: 'Number of sessions that ended.', examples: [2] }) },
  { description: 'The sessions that ended.' },
)
