import { badRequest } from '../../platform/http/errors.ts'
import { at, textAt } from '../connections/templates.ts'
import type { Call, Registration } from './registration.ts'

const query = async (call: Call, document: string, variables: Record<string, unknown> = {}): Promise<unknown> =>
  (
    await call(
      { method: 'POST', path: '/graphql', json: { query: '{query}', variables: '{variables}' } },
      { query: document, variables },
    )
  ).body

const remove = async (call: Call, id: string | undefined): Promise<void> => {
  if (id === undefined) return
  await query(call, 'mutation ($id: String!) { webhookDelete(id: $id) { success } }', { id })
}

/** https://linear.app/developers/webhooks; needs an access token with the scope `admin`. */
export const linear: Registration = {
  find: async (call, target, isOwnUrl) => {
    const data = await query(call, 'query { viewer { id } webhooks(first: 250) { nodes { id url } } }')
    const viewer = textAt(data, 'data.viewer.id')
    const nodes = at(data, 'data.webhooks.nodes')
    const existing = (Array.isArray(nodes) ? (nodes as unknown[]) : [])
      .map((node) => ({ id: textAt(node, 'id') ?? '', url: textAt(node, 'url') ?? '' }))
      .find(({ url }) => isOwnUrl(url))
    return {
      ...(target === undefined ? {} : { target }),
      ...(viewer === null ? {} : { ownIds: [viewer] }),
      ...(existing ? { existing } : {}),
    }
  },
  register: async (call, { url, secret, target }) => {
    const teams = target === undefined ? { allPublicTeams: true } : { teamId: target }
    const input = { url, secret, label: 'Atrium', resourceTypes: ['Issue', 'Comment'], ...teams }
    const data = await query(
      call,
      'mutation ($input: WebhookCreateInput!) { webhookCreate(input: $input) { success webhook { id } } }',
      { input },
    )
    const remoteId = textAt(data, 'data.webhookCreate.webhook.id')
    if (remoteId === null) throw badRequest('Linear did not create the webhook.')
    return { remoteId }
  },
  undo: (call, _planned, remoteId) => remove(call, remoteId),
  removeReplaced: (call, { existing }) => remove(call, existing?.id),
}
