import { Activity, Bot, CreditCard, Files, House, MessageSquareText, Plug, Settings, Webhook } from 'lucide-react'
import type { LucideIcon } from 'lucide-react'

export interface NavigationItem {
  to: string
  label: string
  icon: LucideIcon
  /** Keyboard shortcut: G, then this letter. */
  letter: string
  /** Further search terms of the command palette. */
  keywords?: string
}

export const navigationItems: NavigationItem[] = [
  { to: '/', label: 'Home', icon: House, letter: 'h', keywords: 'start overview' },
  { to: '/files', label: 'Files', icon: Files, letter: 'f', keywords: 'folders documents upload' },
  {
    to: '/chat',
    label: 'Chat',
    icon: MessageSquareText,
    letter: 't',
    keywords: 'conversations messages talk sessions',
  },
  { to: '/agents', label: 'Agents', icon: Bot, letter: 'a', keywords: 'personas models prompts peers' },
  { to: '/webhooks', label: 'Webhooks', icon: Webhook, letter: 'w', keywords: 'deliveries receive forward' },
  { to: '/events', label: 'Events', icon: Activity, letter: 'e', keywords: 'log changes history what happened' },
  {
    to: '/connections',
    label: 'Connections',
    icon: Plug,
    letter: 'c',
    keywords: 'connectors integrations oauth accounts',
  },
  {
    to: '/billing',
    label: 'Billing',
    icon: CreditCard,
    letter: 'b',
    keywords: 'balance money spending costs plans deposit',
  },
]

export const settings: NavigationItem = { to: '/settings', label: 'Settings', icon: Settings, letter: 's' }

/** Pages that only the command palette lists. */
export const paletteItems: Pick<NavigationItem, 'to' | 'label' | 'keywords'>[] = [
  { to: '/events/types', label: 'Event types', keywords: 'events catalog schema' },
  { to: '/events/endpoints', label: 'Event endpoints', keywords: 'events deliveries send url' },
  { to: '/billing/usage', label: 'Usage and quotas', keywords: 'billing limits storage' },
  {
    to: '/settings/profile',
    label: 'Profile and password',
    keywords: 'settings name two-factor theme sessions devices',
  },
  { to: '/settings/organization', label: 'Organization', keywords: 'settings name rename' },
  { to: '/settings/members', label: 'Members and roles', keywords: 'settings people invite' },
  { to: '/settings/workspaces', label: 'Workspaces', keywords: 'settings' },
  { to: '/settings/projects', label: 'Projects', keywords: 'settings' },
  { to: '/settings/api-keys', label: 'API keys', keywords: 'settings token create' },
  { to: '/settings/audit-log', label: 'Audit log', keywords: 'settings history who' },
]

export const createCommands: Pick<NavigationItem, 'to' | 'label' | 'keywords'>[] = [
  { to: '/chat/new', label: 'Start conversation', keywords: 'new chat talk ask' },
  { to: '/agents/new', label: 'Create agent', keywords: 'new' },
  { to: '/webhooks?new', label: 'Create webhook', keywords: 'new receive' },
  { to: '/events/endpoints?new', label: 'Create event endpoint', keywords: 'new send events' },
]
