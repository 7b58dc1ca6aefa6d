import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Activity, Bot, CreditCard, Files, House, MessageSquareText, Plug, Settings, Webhook } from 'lucide-react'
import type { LucideIcon } from 'lucide-react'

export interface NavigationItem {
  to: string
  label: MessageDescriptor
  icon: LucideIcon
  /** Keyboard shortcut: G, then this letter. */
  letter: string
  /** Further search terms of the command palette. */
  keywords?: MessageDescriptor
}

export const navigationItems: NavigationItem[] = [
  { to: '/', label: msg`Home`, icon: House, letter: 'h', keywords: msg`start overview` },
  { to: '/files', label: msg`Files`, icon: Files, letter: 'f', keywords: msg`folders documents upload` },
  {
    to: '/chat',
    label: msg`Chat`,
    icon: MessageSquareText,
    letter: 't',
    keywords: msg`conversations messages talk sessions`,
  },
  { to: '/agents', label: msg`Agents`, icon: Bot, letter: 'a', keywords: msg`personas models prompts peers` },
  { to: '/webhooks', label: msg`Webhooks`, icon: Webhook, letter: 'w', keywords: msg`deliveries receive forward` },
  { to: '/events', label: msg`Events`, icon: Activity, letter: 'e', keywords: msg`log changes history what happened` },
  {
    to: '/connections',
    label: msg`Connections`,
    icon: Plug,
    letter: 'c',
    keywords: msg`connectors integrations oauth accounts`,
  },
  {
    to: '/billing',
    label: msg`Billing`,
    icon: CreditCard,
    letter: 'b',
    keywords: msg`balance money spending costs plans deposit`,
  },
]

export const settings: NavigationItem = { to: '/settings', label: msg`Settings`, icon: Settings, letter: 's' }

/** Pages that only the command palette lists. */
export const paletteItems: Pick<NavigationItem, 'to' | 'label' | 'keywords'>[] = [
  { to: '/events/types', label: msg`Event types`, keywords: msg`events catalog schema` },
  { to: '/events/endpoints', label: msg`Event endpoints`, keywords: msg`events deliveries send url` },
  {
    to: '/billing/documents',
    label: msg`Statements and receipts`,
    keywords: msg`billing invoices pdf tax address`,
  },
  { to: '/billing/usage', label: msg`Usage and quotas`, keywords: msg`billing limits storage` },
  {
    to: '/settings/profile',
    label: msg`Profile and password`,
    keywords: msg`settings name two-factor theme sessions devices`,
  },
  { to: '/settings/organization', label: msg`Organization`, keywords: msg`settings name rename` },
  { to: '/settings/members', label: msg`Members and roles`, keywords: msg`settings people invite` },
  { to: '/settings/workspaces', label: msg`Workspaces`, keywords: msg`settings` },
  { to: '/settings/projects', label: msg`Projects`, keywords: msg`settings` },
  { to: '/settings/api-keys', label: msg`API keys`, keywords: msg`settings token create` },
  { to: '/settings/audit-log', label: msg`Audit log`, keywords: msg`settings history who` },
]

export const createCommands: Pick<NavigationItem, 'to' | 'label' | 'keywords'>[] = [
  { to: '/chat/new', label: msg`Start conversation`, keywords: msg`new chat talk ask` },
  { to: '/agents/new', label: msg`Create agent`, keywords: msg`new` },
  { to: '/webhooks?new', label: msg`Create webhook`, keywords: msg`new receive` },
  { to: '/events/endpoints?new', label: msg`Create event endpoint`, keywords: msg`new send events` },
]
