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
        summary: 'List your consents for an agent',
        description:
          'Your own consents only. A consent that is not valid any more stays listed until you renew or delete it.',
        params: AgentParams,
        response: { 200: Success(ConsentList) },
      },
    },
    async ({ actor, params }) => ok(await consents.listOwnConsents(db, actor, params.id)),
  )

  app.put(
    `${apiPrefix}/agents/:id/consents/:connectorSlug`,
    {
      config: { access: 'connections:write', what, errors: ['CONFLICT'] },
      schema: {
        tags,
        summary: 'Let an agent use your connections to a connector',
        description:
          'Valid until somebody else changes how the agent acts. You need none for an agent that you changed last, except to switch off the approval after untrusted content.',
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
      config: { access: 'connections:write', what },
      schema: {
        tags,
        summary: 'Withdraw a consent',
        description: 'The agent asks again before it uses your connections to this connector.',
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
