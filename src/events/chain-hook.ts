import { chainHeader, inChain, receivedChain } from '../outbox/chain.ts'
import type { ChainHeaders } from '../outbox/chain.ts'
import type { App } from '../platform/http/http.ts'

/**
 * Lets the changes of a request continue the chain that its header names, also of an event that a webhook receives.
 * Register it after the authentication.
 */
export const registerEventChain = (app: App, chains: ChainHeaders): void => {
  app.addHook('preHandler', (request, _reply, done) => {
    const { actor, headers, receivingWebhook } = request
    const header = headers[chainHeader]
    if (actor) inChain(typeof header === 'string' ? chains.parse(actor.orgId, header) : undefined, done)
    else if (receivingWebhook) inChain(receivedChain(chains, receivingWebhook.orgId, headers), done)
    else done()
  })
}
