import type { AuditEntry } from '@atrium/client'
import { msg, t } from '@lingui/core/macro'
import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { formatWord } from '../../words.ts'

/** Texts for actions that are more than a resource and a verb. */
const sentences: Record<string, Text> = {
  'agent.consent-given': msg`Consent for an agent given`,
  'agent.consent-withdrawn': msg`Consent for an agent withdrawn`,
  'billing.adjusted': msg`Balance adjusted`,
  'billing.cancellation-failed': msg`Subscription could not be canceled`,
  'billing.deposited': msg`Funds added`,
  'billing.payment-refunded': msg`Duplicate payment refunded`,
  'billing.promotion-redeemed': msg`Code redeemed`,
  'billing.provider-key-added': msg`Provider key added`,
  'billing.provider-key-removed': msg`Provider key removed`,
  'billing.refund-failed': msg`Duplicate payment could not be refunded`,
  'billing.settings-changed': msg`Billing settings changed`,
  'billing.subscription-ended': msg`Subscription ended`,
  'connection.tools-agreed': msg`Tools of a connection approved`,
  'event-endpoint.secret-rotated': msg`Secret of an event endpoint rotated`,
  'file.overwritten': msg`New version of a file uploaded`,
  'file.retention-updated': msg`Retention of versions changed`,
  'file.share-revoked': msg`Share link revoked`,
  'file.share-updated': msg`Share link changed`,
  'file.shared': msg`Share link created`,
  'file.version-deleted': msg`Version of a file deleted`,
  'file.version-labelled': msg`Version of a file labelled`,
  'file.version-restored': msg`Version of a file restored`,
  'folder.access-changed': msg`Access to a folder changed`,
  'member.invitation-withdrawn': msg`Invitation cancelled`,
  'member.role-changed': msg`Role of a member changed`,
  'org.defaults-updated': msg`Defaults of the organization changed`,
  'org.logo-changed': msg`Logo of the organization changed`,
  'org.logo-removed': msg`Logo of the organization removed`,
  'trash.emptied': msg`Trash emptied`,
  'user.link-made': msg`Sign-in link created`,
  'user.password-changed': msg`Password changed`,
  'user.session-ended': msg`Session ended`,
  'user.sign-in-failed': msg`Sign-in failed`,
  'user.signed-in': msg`Signed in`,
  'user.step-up-failed': msg`Confirmation of identity failed`,
  'user.stepped-up': msg`Identity confirmed`,
  'user.two-factor-enabled': msg`Two-factor authentication turned on`,
  'user.two-factor-removed': msg`Two-factor authentication turned off`,
  'webhook.recovered': msg`Deliveries of a webhook retried`,
  'webhook.secret-rotated': msg`Secret of a webhook rotated`,
  'workspace.member-added': msg`Member added to a workspace`,
  'workspace.member-removed': msg`Member removed from a workspace`,
}

const verbs: Record<string, Text> = {
  accepted: msg`accepted`,
  added: msg`added`,
  authorized: msg`authorized`,
  broken: msg`failed`,
  connected: msg`connected`,
  created: msg`created`,
  declined: msg`declined`,
  deleted: msg`deleted`,
  disabled: msg`disabled`,
  invited: msg`invited`,
  moved: msg`moved`,
  purged: msg`deleted permanently`,
  removed: msg`removed`,
  renamed: msg`renamed`,
  restored: msg`restored`,
  revoked: msg`revoked`,
  updated: msg`updated`,
}

const actionText = (action: string): string => {
  const known = Object.hasOwn(sentences, action) ? sentences[action] : undefined
  if (known !== undefined) return textOf(known)
  const [subject = '', did = ''] = action.split('.')
  const noun = formatWord(subject.replaceAll('-', '_'))
  const verb = Object.hasOwn(verbs, did) ? textOf(verbs[did] ?? did) : did.replaceAll('-', ' ')
  return t({ message: `${noun} ${verb}`, comment: 'A resource and what happened to it, as in “Webhook created”' })
}

/** `api-key.created` → `API key created: CI`, with the name of the resource if there is one. */
export const auditSentence = ({ action, details }: AuditEntry): string => {
  const text = actionText(action)
  return typeof details['name'] === 'string' ? `${text}: ${details['name']}` : text
}
