import { chainHeader, inChain } from '../outbox/chain.ts'
import type { ChainHeaders } from '../outbox/chain.ts'
import type { App } from '../platform/http/http.ts'

/**
 * Lets the changes of a request continue the chain that its header names, also of an event that a webhook receives.
 * Register it after the authentication.
 */
export const registerEventChain = (app: App, chains: ChainHeaders): void => {
  app.addHook('preHandler', (request, _reply, done) => {
    const header = request.headers[chainHeader]
    const orgId = request.actor?.orgId ?? request.receivingWebhook?.orgId
    if (typeof header !== 'string' || orgId === undefined) done()
    else inChain(chains.parse(orgId, header), done)
  })
}
