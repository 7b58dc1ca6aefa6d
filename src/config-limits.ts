import { integer } from './config-values.ts'
import type { ParsedOf, Variable } from './config-values.ts'

const perMinute = (what: string, fallback: number): Variable<number> => ({
  description: `${what} a minute; 0 turns the limit off.`,
  fallback: String(fallback),
  parse: integer(0, 1_000_000),
})

export const limitVariables = {
  RATE_LIMIT_READS: perMinute('Reads of one API key', 600),
  RATE_LIMIT_WRITES: perMinute('Writes of one API key', 120),
  RATE_LIMIT_UPLOADS: perMinute('Uploads of one API key', 60),
  RATE_LIMIT_TURNS: perMinute('Chat turns of one API key', 60),
  RATE_LIMIT_KEY_MINTING: perMinute('API keys minted by one API key', 5),
  RATE_LIMIT_DEPOSITS: perMinute('Deposits started by one API key', 10),
  RATE_LIMIT_RECEIVE: perMinute('Events received by one webhook or endpoint', 600),
  RATE_LIMIT_SIGN_IN: perMinute('Sign-in attempts from one address', 10),
} as const satisfies Record<string, Variable>

/** Requests a minute, 0 for no limit. */
export interface RateLimits {
  reads: number
  writes: number
  uploads: number
  turns: number
  keyMinting: number
  deposits: number
  receive: number
  signIn: number
}

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
