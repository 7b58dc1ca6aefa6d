import { badRequest } from '../../platform/http/errors.ts'
import { textAt } from '../connections/templates.ts'
import type { Call, Planned, Registration } from './registration.ts'

const pointTo = async (call: Call, { resourceId }: Planned, url: string): Promise<void> => {
  await call(
    { method: 'POST', path: '/IncomingPhoneNumbers/{resourceId}.json', form: { SmsUrl: '{url}', SmsMethod: 'POST' } },
    { resourceId, url },
  )
}

// New numbers point to a demo of Twilio.
const isDefault = (url: string): boolean => url === '' || URL.parse(url)?.hostname === 'demo.twilio.com'

/** A phone number has one URL for messages. https://www.twilio.com/docs/phone-numbers/api/incomingphonenumber-resource */
export const twilio: Registration = {
  targetOption: 'number',
  find: async (call, target) => {
    if (!/^\+[1-9]\d{6,14}$/.test(target ?? '')) throw badRequest('--number must be of the form +14155550100.')
    const { body } = await call(
      { method: 'GET', path: '/IncomingPhoneNumbers.json', query: { PhoneNumber: '{target}' } },
      { target },
    )
    const resourceId = textAt(body, 'incoming_phone_numbers.0.sid')
    const url = textAt(body, 'incoming_phone_numbers.0.sms_url') ?? ''
    if (target === undefined || resourceId === null) throw badRequest(`The account has no phone number ${target}.`)
    return { target, resourceId, ownIds: [target], ...(isDefault(url) ? {} : { existing: { url } }) }
  },
  register: async (call, planned) => {
    await pointTo(call, planned, planned.url)
    return {}
  },
  undo: (call, planned) => pointTo(call, planned, planned.existing?.url ?? ''),
}
