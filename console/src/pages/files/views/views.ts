import { msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import { ChartNoAxesColumn, Clock, Star, Trash2 } from 'lucide-react'
import type { LucideIcon } from 'lucide-react'

/** A folder, or the files of all folders that a person marked or used last. */
export type View = 'folder' | 'favorites' | 'recent'

export interface ViewLink {
  to: string
  label: MessageDescriptor
  icon: LucideIcon
}

/** The pages beside the folders. */
export const viewLinks: readonly ViewLink[] = [
  { to: '/files/recent', label: msg`Recent`, icon: Clock },
  { to: '/files/favorites', label: msg`Favorites`, icon: Star },
  { to: '/files/usage', label: msg`Storage`, icon: ChartNoAxesColumn },
  { to: '/files/trash', label: msg`Trash`, icon: Trash2 },
]
