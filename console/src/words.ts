// Names that the API uses as values: roles, statuses, kinds of resources.
import type { MessageDescriptor } from '@lingui/core'
import { i18n } from '@lingui/core'
import { msg } from '@lingui/core/macro'

const words: Record<string, MessageDescriptor> = {
  active: msg`Active`,
  adjustment: msg`Adjustment`,
  admin: msg`Admin`,
  agent: msg`Agent`,
  agents: msg`Agents`,
  answered: msg`Answered`,
  app: msg`App`,
  api_key: msg`API key`,
  assistant: msg`Assistant`,
  balance: msg`Balance`,
  billing: msg`Billing`,
  billing_manager: msg`Billing manager`,
  canceled: msg`Cancelled`,
  cancelled: msg`Cancelled`,
  closed: msg`Closed`,
  completed: msg`Completed`,
  connection: msg`Connection`,
  connections: msg`Connections`,
  connector: msg`Connector`,
  connectors: msg`Connectors`,
  declined: msg`Declined`,
  denied: msg`Denied`,
  deposit: msg`Deposit`,
  disabled: msg`Disabled`,
  done: msg`Done`,
  due: msg`Due`,
  endpoint: msg`Endpoint`,
  error: msg`Error`,
  event_endpoint: msg`Event endpoint`,
  events: msg`Events`,
  expired: msg`Expired`,
  failed: msg`Failed`,
  file: msg`File`,
  files: msg`Files`,
  filtered: msg`Filtered`,
  folder: msg`Folder`,
  held: msg`Held`,
  idle: msg`Idle`,
  in_progress: msg`In progress`,
  incomplete: msg`Incomplete`,
  invited: msg`Invited`,
  linear_binding: msg`Linear binding`,
  lost: msg`Lost`,
  member: msg`Member`,
  members: msg`Members`,
  message: msg`Message`,
  model: msg`Model`,
  org: msg`Organization`,
  owner: msg`Owner`,
  past_due: msg`Past due`,
  paused: msg`Paused`,
  pending: msg`Pending`,
  platform_fee: msg`Platform fee`,
  processing: msg`Processing`,
  project: msg`Project`,
  projects: msg`Projects`,
  queued: msg`Queued`,
  quota: msg`Quota`,
  ready: msg`Ready`,
  recorded: msg`Recorded`,
  refund: msg`Refund`,
  requires_action: msg`Requires action`,
  revoked: msg`Revoked`,
  running: msg`Running`,
  sending: msg`Sending`,
  session: msg`Conversation`,
  sessions: msg`Conversations`,
  silent: msg`Silent`,
  started: msg`Started`,
  subscription: msg`Subscription`,
  succeeded: msg`Succeeded`,
  system: msg`System`,
  trialing: msg`Trial`,
  turn: msg`Turn`,
  unknown: msg`Unknown`,
  unpaid: msg`Unpaid`,
  usage: msg`Usage`,
  user: msg`User`,
  waiting: msg`Waiting`,
  webhook: msg`Webhook`,
  webhooks: msg`Webhooks`,
  workspace: msg`Workspace`,
  workspaces: msg`Workspaces`,
}

/** `billing_manager` → `Billing manager` in the language of the console. Names that it does not know stay in English. */
export const formatWord = (word: string): string => {
  const known = Object.hasOwn(words, word) ? words[word] : undefined
  if (known) return i18n._(known)
  const text = word.replaceAll(/[_-]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The word within a sentence: German nouns keep their capital. */
export const formatWordInText = (word: string): string =>
  i18n.locale === 'de'
    ? formatWord(word)
    : formatWord(word).replace(/^\p{Lu}(?!\p{Lu})/u, (letter) => letter.toLowerCase())
