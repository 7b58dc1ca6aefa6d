import { Mistake, text } from './values.ts'
import type { Parse, ParsedOf, Variable } from './values.ts'

const email: Parse<string> = (value) =>
  /^[^\s@]+@[^\s@]+$/.test(value) ? value.toLowerCase() : new Mistake('must be an email address')

const password: Parse<string> = (value) =>
  [...value].length >= 8 && [...value].length <= 128 ? value : new Mistake('must be 8–128 characters')

/** The first owner of an empty database. */
export const bootstrapVariables = {
  BOOTSTRAP_API_KEY: {
    description:
      'The API key of the first owner of an empty database. Unset: generated and stored in `DATA_DIR/owner-api-key`; printed once, but not in production.',
    fallback: '',
    parse: text,
    secret: true,
  },
  BOOTSTRAP_EMAIL: { description: "The first owner's email address.", fallback: 'owner@localhost', parse: email },
  BOOTSTRAP_PASSWORD: {
    description:
      "The first owner's password. Unset: a one-time sign-in link is printed, or in production written to `DATA_DIR/owner-sign-in-link`.",
    fallback: '',
    parse: password,
    secret: true,
  },
} as const satisfies Record<string, Variable>

export interface BootstrapConfig {
  apiKey: string | undefined
  email: string
  password: string | undefined
}

export const bootstrapConfigOf = (parsed: ParsedOf<typeof bootstrapVariables>): BootstrapConfig => ({
  apiKey: parsed.BOOTSTRAP_API_KEY,
  email: parsed.BOOTSTRAP_EMAIL,
  password: parsed.BOOTSTRAP_PASSWORD,
})
