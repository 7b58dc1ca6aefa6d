import { discord } from './discord.ts'
import { github } from './github.ts'
import { createGmail } from './gmail.ts'
import type { FetchDocument } from './google-token.ts'
import { jira } from './jira.ts'
import { linear } from './linear.ts'
import type { Receiver } from './receiver.ts'
import { slack } from './slack.ts'
import { stripe } from './stripe.ts'
import { telegram } from './telegram.ts'
import { twilio } from './twilio.ts'

/** Every receiver by its provider, which is also the slug of its connector. */
export type Receivers = ReadonlyMap<string, Receiver>

export const createReceivers = (deps: { fetchDocument: FetchDocument }): Receivers => {
  const all = [telegram, slack, discord, twilio, createGmail(deps.fetchDocument), github, linear, jira, stripe]
  return new Map(all.map((receiver) => [receiver.provider, receiver]))
}
