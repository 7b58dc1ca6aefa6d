import { Bot, CreditCard, Files, House, MessageSquareText, Plug, Settings, Webhook } from 'lucide-react'
import type { LucideIcon } from 'lucide-react'

export interface Place {
  to: string
  label: string
  icon: LucideIcon
  /** Two keys after each other: G and this one. */
  letter: string
  /** Words that the palette finds it by, too. */
  keywords?: string
}

/** The areas, in the order of the side bar. */
export const places: Place[] = [
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
  { to: '/webhooks', label: 'Webhooks', icon: Webhook, letter: 'w', keywords: 'events deliveries receive forward' },
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

export const settings: Place = { to: '/settings', label: 'Settings', icon: Settings, letter: 's' }

/** What only the palette shows. */
export const palettePlaces: Pick<Place, 'to' | 'label' | 'keywords'>[] = [
  { to: '/billing/usage', label: 'Usage and quotas', keywords: 'billing limits storage' },
  { to: '/settings/profile', label: 'Profile and password', keywords: 'settings name two-factor theme' },
  { to: '/settings/members', label: 'Members and roles', keywords: 'settings people invite' },
  { to: '/settings/workspaces', label: 'Workspaces', keywords: 'settings' },
  { to: '/settings/projects', label: 'Projects', keywords: 'settings' },
  { to: '/settings/api-keys', label: 'API keys', keywords: 'settings token mint' },
  { to: '/settings/audit-log', label: 'Audit log', keywords: 'settings history who' },
]

/** What one begins by a few letters. */
export const beginnings: Pick<Place, 'to' | 'label' | 'keywords'>[] = [
  { to: '/chat', label: 'New conversation', keywords: 'chat talk ask' },
  { to: '/agents/new', label: 'New agent', keywords: 'create' },
  { to: '/webhooks?new', label: 'New webhook', keywords: 'create receive' },
]
