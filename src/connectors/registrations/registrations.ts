import { github } from './github.ts'
import { linear } from './linear.ts'
import type { Registration } from './registration.ts'
import { stripe } from './stripe.ts'
import { telegram } from './telegram.ts'
import { twilio } from './twilio.ts'

/** The providers whose API registers webhooks. At the others the user enters the URL. */
export const registrations: ReadonlyMap<string, Registration> = new Map(
  Object.entries({ telegram, github, linear, stripe, twilio }),
)
