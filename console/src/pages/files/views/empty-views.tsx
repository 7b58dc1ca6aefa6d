import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Clock, Star } from 'lucide-react'
import { EmptyState } from '../../../ui/empty-state.tsx'

export const NoFavorites = () => (
  <EmptyState icon={<Star />} title={t`No favorites yet`}>
    <Trans>Mark files and folders with the star in their row or menu. Only you see your favorites.</Trans>
  </EmptyState>
)

export const NoRecentFiles = () => (
  <EmptyState icon={<Clock />} title={t`No recent files`}>
    <Trans>Files that you upload, change or open appear here. Only you see them.</Trans>
  </EmptyState>
)
