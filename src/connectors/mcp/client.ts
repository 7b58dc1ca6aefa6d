import type { Outbound } from '../../platform/outbound/outbound.ts'
import { ProviderError } from '../connections/provider-error.ts'
import { openHandshakeSession } from './handshake.ts'
import type { McpSession, McpTarget } from './session.ts'
import { findStatelessServer } from './stateless.ts'
import { createTransport } from './transport.ts'

/** How long a server is assumed to have only revisions with a handshake, so that not every call asks again. */
const assumptionMs = 3_600_000
const maxAssumptions = 1_000

/** When servers were found to have only revisions with a handshake, by URL. */
const handshakeSince = new Map<string, number>()

const isAssumed = (href: string): boolean => {
  const since = handshakeSince.get(href)
  return since !== undefined && performance.now() - since < assumptionMs
}

const assume = (href: string): void => {
  if (handshakeSince.size >= maxAssumptions) handshakeSince.clear()
  handshakeSince.set(href, performance.now())
}

/**
 * Opens a session with a server: of the revision 2026-07-28 if the server has it, otherwise of one with a handshake.
 * `signal` ends all its requests. Throws a ProviderError: `invalid_credentials` when the server does not accept the token,
 * `rejected` when it supports none of our revisions.
 */
export const openSession = async (outbound: Outbound, target: McpTarget, signal?: AbortSignal): Promise<McpSession> => {
  const transport = createTransport(outbound, target, signal)
  const { href } = target.url
  if (isAssumed(href)) {
    try {
      return await openHandshakeSession(transport, target, signal)
    } catch (error) {
      // The server may have been replaced by one without a handshake.
      if (!(error instanceof ProviderError) || error.failure !== 'rejected') throw error
      handshakeSince.delete(href)
    }
  }
  const stateless = await findStatelessServer(transport, target, signal)
  if (stateless) return stateless
  const session = await openHandshakeSession(transport, target, signal)
  assume(href)
  return session
}
