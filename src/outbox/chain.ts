import { AsyncLocalStorage } from 'node:async_hooks'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isUuid, newId } from '../platform/ids.ts'

/**
 * A change that an event has caused produces the next event of its chain. Deliveries carry the chain in a header, and a
 * request that repeats the header continues it. Without a limit, an event whose delivery changes something here could
 * cause itself for ever.
 */
export interface EventChain {
  /** The id of the first event. */
  id: string
  /** The number of events before the next one. */
  depth: number
}

/** `<id of the first event>;<depth>;<expiry, s since 1970>;<signature>` */
export const chainHeader = 'atrium-event-chain'

/**
 * The number of deliveries and messages that led to a request, one of another org or server included. Nobody signs it.
 */
export const hopsHeader = 'x-atrium-hops'

/** An event with more predecessors is recorded and not delivered. */
export const maxDepth = 5

const lifetimeSeconds = 86_400

const running = new AsyncLocalStorage<EventChain | undefined>()

/** Events that `work` records continue the chain. */
export const inChain = <T>(chain: EventChain | undefined, work: () => T): T =>
  chain === undefined ? work() : running.run(chain, work)

/** For work on behalf of many callers: its events continue the chain of none. */
export const outsideChains = <T>(work: () => T): T => running.run(undefined, work)

export const currentChain = (): EventChain | undefined => running.getStore()

/** The chain after an event: that of the changes that it causes. */
export const chainAfter = ({ chainId, depth }: { chainId: string; depth: number }): EventChain => ({
  id: chainId,
  depth: depth + 1,
})

/** The chain of a stored piece of work, such as a turn: two columns, null outside of a chain. */
export interface ChainColumns {
  eventChainId: string | null
  /** The depth of its next event. */
  eventDepth: number | null
}

export const chainColumns = (chain: EventChain | undefined): ChainColumns => ({
  eventChainId: chain?.id ?? null,
  eventDepth: chain?.depth ?? null,
})

export const chainOf = ({ eventChainId: id, eventDepth: depth }: ChainColumns): EventChain | undefined =>
  id === null || depth === null ? undefined : { id, depth }

export interface ChainHeaders {
  format(orgId: string, chain: EventChain): string
  /**
   * Undefined for a header that this server did not sign for the org, or that has expired. Without a signature, a caller
   * could claim a chain that is too long, so that nobody is told of their changes.
   */
  parse(orgId: string, header: string): EventChain | undefined
}

export const hopsOf = (headers: Readonly<Record<string, unknown>> | null): number => {
  const header = headers?.[hopsHeader]
  const hops = typeof header === 'string' ? Number.parseInt(header, 10) : 0
  return hops > 0 ? Math.min(hops, maxDepth + 1) : 0
}

/** The chain after this number of hops, which orgs and servers count whose chains are others. */
export const withHops = (chain: EventChain | undefined, hops: number): EventChain | undefined =>
  hops === 0 ? chain : { id: chain?.id ?? newId(), depth: Math.max(chain?.depth ?? 0, hops) }

/** The headers of a request that continues a chain. */
export const chainHeadersOf = (chains: ChainHeaders, orgId: string, chain: EventChain): Record<string, string> => ({
  [chainHeader]: chains.format(orgId, chain),
  [hopsHeader]: String(chain.depth),
})

/**
 * The chain of an event that a webhook or an endpoint of a connection receives: that of its header, if this server signed
 * it for the org, and otherwise one of its own that is as long as the sender says.
 */
export const receivedChain = (
  chains: ChainHeaders,
  orgId: string,
  headers: Readonly<Record<string, unknown>>,
): EventChain | undefined => {
  const header = headers[chainHeader]
  return withHops(typeof header === 'string' ? chains.parse(orgId, header) : undefined, hopsOf(headers))
}

/** The first key signs; all are accepted. */
export const createChainHeaders = (keys: readonly { key: Buffer }[], now = Date.now): ChainHeaders => {
  const sign = (key: Buffer, orgId: string, text: string): Buffer =>
    createHmac('sha256', key).update(`${orgId};${text}`).digest()
  return {
    format: (orgId, { id, depth }) => {
      const text = `${id};${depth};${Math.floor(now() / 1_000) + lifetimeSeconds}`
      return `${text};${sign(keys[0]?.key as Buffer, orgId, text).toString('base64url')}`
    },
    parse: (orgId, header) => {
      const [, text = '', id = '', depth = '', expiry = '', signature = ''] =
        /^(([0-9a-f-]{36});(\d{1,3});(\d{1,12}));([\w-]{43})$/.exec(header) ?? []
      if (!isUuid(id) || Number(expiry) * 1_000 < now()) return undefined
      const given = Buffer.from(signature, 'base64url')
      const isGenuine = keys.some(({ key }) => timingSafeEqual(sign(key, orgId, text), given))
      return isGenuine ? { id, depth: Number(depth) } : undefined
    },
  }
}
