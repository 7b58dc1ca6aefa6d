import { badRequest } from '../../platform/http/errors.ts'
import { at, textAt } from '../connections/templates.ts'
import type { Call, Registration } from './registration.ts'

const remove = async (call: Call, id: string | undefined): Promise<void> => {
  if (id !== undefined) await call({ method: 'DELETE', path: '/v1/webhook_endpoints/{id}' }, { id })
}

/** https://docs.stripe.com/api/webhook_endpoints; Stripe returns the secret only on creation. */
export const stripe: Registration = {
  find: async (call, _target, isOwnUrl) => {
    const { body } = await call({ method: 'GET', path: '/v1/webhook_endpoints', query: { limit: 100 } })
    const list = at(body, 'data')
    const existing = (Array.isArray(list) ? (list as unknown[]) : [])
      .map((one) => ({ id: textAt(one, 'id') ?? '', url: textAt(one, 'url') ?? '' }))
      .find(({ url }) => isOwnUrl(url))
    return existing ? { existing } : {}
  },
  register: async (call, { url }) => {
    const { body } = await call(
      {
        method: 'POST',
        path: '/v1/webhook_endpoints',
        form: { url: '{url}', 'enabled_events[]': '*', description: 'Atrium' },
      },
      { url },
    )
    const [remoteId, secret] = [textAt(body, 'id'), textAt(body, 'secret')]
    if (remoteId === null || secret === null) throw badRequest('Stripe did not return the secret of the webhook.')
    return { remoteId, secret }
  },
  undo: (call, _planned, remoteId) => remove(call, remoteId),
  removeReplaced: (call, { existing }) => remove(call, existing?.id),
}
