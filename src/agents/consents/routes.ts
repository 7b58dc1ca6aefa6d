import { sendResource } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Deleted, ok, Success } from '../../platform/http/schemas.ts'
import * as consents from './consents.ts'
import { Consent, ConsentList, ConsentParams, ConsentPut } from './schemas.ts'
import type { AgentDeps } from '../deps.ts'
import { AgentParams } from '../schemas.ts'

const tags = ['Agents']
const what = 'Agent'

export const registerConsentRoutes = (app: App, { db, knownTools }: AgentDeps): void => {
  app.get(
    `${apiPrefix}/agents/:id/consents`,
    {
      config: { access: 'connections:read', what },
      schema: {
        tags,
        summary: 'List consents for an agent',
        description:
          'Returns your own consents for the agent, and the last change of how the agent acts. A consent that is no longer valid stays listed until you renew or withdraw it.',
        params: AgentParams,
        response: { 200: Success(ConsentList) },
      },
    },
    async ({ actor, params }) => ok(await consents.listOwnConsents(db, actor, params.id)),
  )

  app.put(
    `${apiPrefix}/agents/:id/consents/:connectorSlug`,
    {
      config: { access: 'connections:write', what, errors: ['CONFLICT'], events: ['agent.consent_given'] },
      schema: {
        tags,
        summary: 'Give consent to an agent',
        description:
          'Allows the agent to use your connections to the connector. The consent is valid until another person changes how the agent acts. You need none for an agent that you changed last, except to switch off the approval after untrusted content. CONFLICT when the agent has changed since the `authorityVersion` that you send.',
        params: ConsentParams,
        body: ConsentPut,
        response: { 200: Success(Consent) },
      },
    },
    async (request, reply) => {
      const { actor, params, body, db } = request
      const { askAfterUntrustedContent, authorityVersion: shownVersion } = body
      const { id: idOrSlug, connectorSlug } = params
      const input = { idOrSlug, connectorSlug, askAfterUntrustedContent, shownVersion }
      return sendResource(request, reply, await consents.putOwnConsent(db, actor, knownTools, input))
    },
  )

  app.delete(
    `${apiPrefix}/agents/:id/consents/:connectorSlug`,
    {
      config: { access: 'connections:write', what, events: ['agent.consent_withdrawn'] },
      schema: {
        tags,
        summary: 'Withdraw consent from an agent',
        description: 'Withdraws your consent. The agent asks again before it uses your connections to the connector.',
        params: ConsentParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params, headers, db }) => {
      const { id: idOrSlug, connectorSlug } = params
      await consents.withdrawConsent(db, actor, { idOrSlug, connectorSlug, ifMatch: headers['if-match'] })
      return ok({ deleted: true as const })
    },
  )
}
