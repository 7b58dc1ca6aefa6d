import type { RateLimits } from '../platform/http/limits/rate-limit.ts'
import { integer } from './values.ts'
import type { ParsedOf, Variable } from './values.ts'

const perMinute = (what: string, fallback: number): Variable<number> => ({
  description: `${what} per minute. 0: no limit.`,
  fallback: String(fallback),
  parse: integer(0, 1_000_000),
})

export const limitVariables = {
  RATE_LIMIT_READS: perMinute('Read requests of one API key', 600),
  RATE_LIMIT_WRITES: perMinute('Write requests of one API key', 120),
  RATE_LIMIT_UPLOADS: perMinute('Uploads of one API key', 60),
  RATE_LIMIT_TURNS: perMinute('Chat turns of one API key', 60),
  RATE_LIMIT_KEY_MINTING: perMinute('API keys created by one API key', 5),
  RATE_LIMIT_DEPOSITS: perMinute('Deposits started by one API key', 10),
  RATE_LIMIT_RECEIVE: perMinute('Events received by one webhook or endpoint', 600),
  RATE_LIMIT_SIGN_IN: perMinute('Sign-in attempts from one address', 10),
  MAX_CONNECTIONS: {
    description:
      'Open client connections of one process. Further connections are closed immediately. 0: no limit. Each connection uses a file descriptor.',
    fallback: '10000',
    parse: integer(0, 1_000_000),
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    description:
      "Open client connections of one address (one /64 in IPv6). 0: no limit. Not applied to the machine itself, nor with `TRUST_PROXY`, where every connection is the proxy's.",
    fallback: '1000',
    parse: integer(0, 1_000_000),
  },
} as const satisfies Record<string, Variable>

/** Limits of open connections of one process; 0 for no limit. */
export interface ConnectionConfig {
  max: number
  maxPerAddress: number
}

export const connectionConfigOf = (
  parsed: ParsedOf<typeof limitVariables>,
  { trustProxy }: { trustProxy: boolean },
): ConnectionConfig => ({
  max: parsed.MAX_CONNECTIONS,
  maxPerAddress: trustProxy ? 0 : parsed.MAX_CONNECTIONS_PER_ADDRESS,
})

export const rateLimitsOf = (parsed: ParsedOf<typeof limitVariables>): RateLimits => ({
  reads: parsed.RATE_LIMIT_READS,
  writes: parsed.RATE_LIMIT_WRITES,
  uploads: parsed.RATE_LIMIT_UPLOADS,
  turns: parsed.RATE_LIMIT_TURNS,
  keyMinting: parsed.RATE_LIMIT_KEY_MINTING,
  deposits: parsed.RATE_LIMIT_DEPOSITS,
  receive: parsed.RATE_LIMIT_RECEIVE,
  signIn: parsed.RATE_LIMIT_SIGN_IN,
})
