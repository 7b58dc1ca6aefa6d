import { discord } from './discord.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { createGmail } from './gmail.ts'
import type { FetchDocument } from './google-token.ts'
import { hmac } from './hmac.ts'
import { jira } from './jira.ts'
import { linear, linearWithRetries } from './linear.ts'
import type { ChatAdapter, ProviderAdapter } from './provider.ts'
import { shopify } from './shopify.ts'
import { slack } from './slack.ts'
import { standardWebhooks } from './standard-webhooks.ts'
import { stripe } from './stripe.ts'
import { telegram } from './telegram.ts'
import { token } from './token.ts'
import { twilio, twilioWithOtherEvents } from './twilio.ts'

const sources: ReadonlyMap<string, ProviderAdapter> = new Map(
  Object.entries({ github, gitlab, jira, stripe, slack, linear, shopify, telegram, twilio, discord, hmac, token }),
)

/** The adapter of a webhook's `source`, in any case. `custom` and unknown sources use Standard Webhooks. */
export const adapterOfSource = (source: string): ProviderAdapter =>
  sources.get(source.toLowerCase()) ?? standardWebhooks

export const usesStandardWebhooks = (source: string): boolean => adapterOfSource(source) === standardWebhooks

/** Adapters of connectors by provider, which is also the slug of the connector. */
export type ChatAdapters = ReadonlyMap<string, ChatAdapter>

export const createChatAdapters = (deps: { fetchDocument: FetchDocument }): ChatAdapters =>
  new Map<string, ChatAdapter>(
    Object.entries({
      telegram,
      slack,
      discord,
      twilio: twilioWithOtherEvents,
      gmail: createGmail(deps.fetchDocument),
      github,
      linear: linearWithRetries,
      jira,
      stripe,
    }),
  )
