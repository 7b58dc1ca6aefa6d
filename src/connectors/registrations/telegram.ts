import { badRequest } from '../../platform/http/errors.ts'
import { textAt } from '../connections/templates.ts'
import type { Call, Registration } from './registration.ts'

const registeredUrl = async (call: Call): Promise<string> =>
  textAt((await call({ method: 'GET', path: '/getWebhookInfo' })).body, 'result.url') ?? ''

/** A bot has one webhook, which a new one replaces. https://core.telegram.org/bots/api#setwebhook */
export const telegram: Registration = {
  ports: [443, 80, 88, 8443],
  find: async (call) => {
    const url = await registeredUrl(call)
    return url === '' ? {} : { existing: { url } }
  },
  register: async (call, { url, secret }) => {
    await call(
      {
        method: 'POST',
        path: '/setWebhook',
        json: { url: '{url}', secret_token: '{secret}', allowed_updates: ['message'], max_connections: 40 },
      },
      { url, secret },
    )
    if ((await registeredUrl(call)) !== url) throw badRequest('Telegram accepted the webhook but returns another URL.')
    return {}
  },
  // Only if the registration succeeded. The replaced webhook cannot be restored without its secret.
  undo: async (call, { url }) => {
    if ((await registeredUrl(call)) === url) await call({ method: 'POST', path: '/deleteWebhook' })
  },
}
