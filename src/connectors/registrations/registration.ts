import type { ApiResponse, RequestTemplate, Values } from '../catalog/definition.ts'

/** Sends a request to the provider with the credentials of the connection. */
export type Call = (request: RequestTemplate, input?: Values) => Promise<ApiResponse>

/** The state at the provider before anything is changed. */
export interface Found {
  /** The provider's resource that sends events: a repository, a phone number, a team. */
  target?: string
  /** The webhook that would be replaced. */
  existing?: { url: string; id?: string }
  /** The accounts that the agent writes with: their messages start no turn. */
  ownIds?: string[]
  /** The provider's id of the resource that the webhook is attached to. */
  resourceId?: string
}

export interface Planned extends Found {
  url: string
  /** A generated secret, or the auth token of the account. */
  secret: string
}

/** Registers webhooks by a provider's API. */
export interface Registration {
  /** Command line option of the target (`repo` for `--repo`). Without a value, nothing is registered. */
  targetOption?: string
  /** The ports that the provider connects to. Default: any. */
  ports?: readonly number[]
  /** Reads the state at the provider. `isOwnUrl` tells whether a URL is one of this server. */
  find(call: Call, target: string | undefined, isOwnUrl: (url: string) => boolean): Promise<Found>
  /** Registers the webhook. Returns the provider's id of it, and the secret if the provider generates it. */
  register(call: Call, planned: Planned): Promise<{ remoteId?: string; secret?: string }>
  /** Removes a registration that may be incomplete, and restores the replaced webhook if the provider allows it. */
  undo(call: Call, planned: Planned, remoteId: string | undefined): Promise<void>
  /** Deletes the replaced webhook, if the provider keeps both. */
  removeReplaced?(call: Call, planned: Planned): Promise<void>
  /** Makes the provider send a test event to the active endpoint. */
  ping?(call: Call, planned: Planned, remoteId: string | undefined): Promise<void>
}
