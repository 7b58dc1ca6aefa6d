import type { ProviderAnswer, RequestTemplate, Values } from '../catalog/definition.ts'

/** One request to the provider in the connection's name. */
export type Call = (request: RequestTemplate, input?: Values) => Promise<ProviderAnswer>

/** What the person says about the webhook. */
export interface Wishes {
  /** What it is for at the provider: a repository, a phone number, a team. */
  target?: string
}

/** What is at the provider before anything is changed. */
export interface Found {
  target?: string
  /** The webhook that would be replaced. */
  existing?: { url: string; id?: string }
  /** As whom the agent would speak: its own messages start no turn. */
  ownIds?: string[]
  /** What the webhook is attached to, as the provider calls it. */
  place?: string
}

export interface Planned extends Found {
  url: string
  /** A fresh one of ours. */
  secret: string
}

/** How a webhook is registered by a provider's own API. */
export interface Registration {
  /** How the target is asked for (`--repo`); without it nothing is registered where it is needed. */
  targetOption?: string
  /** The ports that the provider connects to; any when left out. */
  ports?: readonly number[]
  /** Looks, and changes nothing. `isOurs` tells the URLs that lead to this server. */
  look(call: Call, wishes: Wishes, isOurs: (url: string) => boolean): Promise<Found>
  /** Registers it. Answers the provider's id for it, and the secret when it is the provider who makes that. */
  register(call: Call, planned: Planned): Promise<{ remoteId?: string; secret?: string }>
  /** Takes it back, as far as it got: what was there before is there again where the provider lets one say so. */
  undo(call: Call, planned: Planned, remoteId: string | undefined): Promise<void>
  /** Removes the webhook that was replaced, where the new one has not taken its place. */
  removeReplaced?(call: Call, planned: Planned): Promise<void>
  /** Has the provider try it, once it is open. */
  ping?(call: Call, planned: Planned, remoteId: string | undefined): Promise<void>
}
