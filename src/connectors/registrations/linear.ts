import { badRequest } from '../../platform/http/errors.ts'
import { at, textAt } from '../connections/templates.ts'
import type { Call, Registration } from './registration.ts'

const ask = async (call: Call, query: string, variables: Record<string, unknown> = {}): Promise<unknown> =>
  (
    await call(
      { method: 'POST', path: '/graphql', json: { query: '{query}', variables: '{variables}' } },
      { query, variables },
    )
  ).body

const remove = async (call: Call, id: string | undefined): Promise<void> => {
  if (id === undefined) return
  await ask(call, 'mutation ($id: String!) { webhookDelete(id: $id) { success } }', { id })
}

/** https://linear.app/developers/webhooks; it takes a grant with the scope `admin`. */
export const linear: Registration = {
  look: async (call, { target }, isOurs) => {
    const answer = await ask(call, 'query { viewer { id } webhooks(first: 250) { nodes { id url } } }')
    const viewer = textAt(answer, 'data.viewer.id')
    const nodes = at(answer, 'data.webhooks.nodes')
    const existing = (Array.isArray(nodes) ? (nodes as unknown[]) : [])
      .map((node) => ({ id: textAt(node, 'id') ?? '', url: textAt(node, 'url') ?? '' }))
      .find(({ url }) => isOurs(url))
    return {
      ...(target === undefined ? {} : { target }),
      ...(viewer === null ? {} : { ownIds: [viewer] }),
      ...(existing ? { existing } : {}),
    }
  },
  register: async (call, { url, secret, target }) => {
    const teams = target === undefined ? { allPublicTeams: true } : { teamId: target }
    const input = { url, secret, label: 'Atrium', resourceTypes: ['Issue', 'Comment'], ...teams }
    const answer = await ask(
      call,
      'mutation ($input: WebhookCreateInput!) { webhookCreate(input: $input) { success webhook { id } } }',
      { input },
    )
    const remoteId = textAt(answer, 'data.webhookCreate.webhook.id')
    if (remoteId === null) throw badRequest('Linear did not make the webhook.')
    return { remoteId }
  },
  undo: (call, _planned, remoteId) => remove(call, remoteId),
  removeReplaced: (call, { existing }) => remove(call, existing?.id),
}
