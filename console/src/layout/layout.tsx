import { Trans, useLingui } from '@lingui/react/macro'
import { Menu as MenuIcon, Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Outlet, useLocation } from 'react-router'
import { importWithRetry, wasUpdated } from '../load-page.ts'
import { SignedIn } from '../session.tsx'
import { StepUp } from '../step-up.tsx'
import { IconButton } from '../ui/forms/button.tsx'
import { toast } from '../ui/toast.tsx'
import styles from './layout.module.css'
import { Notices } from './notices.tsx'
import { OfflineBanner } from './offline-banner.tsx'
import { useScopeRequest } from '../scope.ts'
import { useUploads } from '../uploads/state.ts'
import { FrameSkeleton } from './frame-skeleton.tsx'
import { RouteProgress } from './route-progress.tsx'
import { useShortcuts } from './shortcuts.ts'
import { SideBar } from './side-bar.tsx'
import { loadOverlays, useOverlays } from './use-overlays.ts'

// Loaded with the first upload.
const UploadTray = lazy(async () => ({
  default: (await importWithRetry(() => import('./upload-tray.tsx'))).UploadTray,
}))

const Overlays = lazy(async () => ({ default: (await importWithRetry(loadOverlays)).Overlays }))

const Shell = () => {
  const { t } = useLingui()
  const uploads = useUploads()
  const overlays = useOverlays()
  const isAsked = useScopeRequest() !== undefined
  const { pathname } = useLocation()
  // Bound to the path, so that navigation closes the drawer.
  const [drawerOn, setDrawerOn] = useState<string>()
  const drawerOpen = drawerOn === pathname
  const setDrawerOpen = (open: boolean): void => setDrawerOn(open ? pathname : undefined)
  useEffect(() => {
    if (wasUpdated()) toast.done(t`Atrium was updated to a new version`)
  }, [t])
  const openSearch = (): void => overlays.change(() => 'palette')
  const openShortcuts = (): void => overlays.change(() => 'shortcuts')
  useShortcuts(() => overlays.change((now) => (now === 'palette' ? undefined : 'palette')), openShortcuts)
  return (
    <div className={styles['frame']}>
      <RouteProgress />
      <a href="#content" className={styles['skip']}>
        <Trans>Skip to content</Trans>
      </a>
      <header className={styles['topBar']}>
        <IconButton
          label={t`Menu`}
          icon={<MenuIcon />}
          aria-expanded={drawerOpen}
          onClick={() => setDrawerOpen(!drawerOpen)}
        />
        <span className={styles['brand']}>Atrium</span>
        <IconButton label={t`Search and commands`} icon={<Search />} onClick={openSearch} />
      </header>
      {drawerOpen && <div className={styles['veil']} onClick={() => setDrawerOpen(false)} aria-hidden="true" />}
      <SideBar open={drawerOpen} onSearch={openSearch} onShortcuts={openShortcuts} />
      <main id="content" className={styles['content']} tabIndex={-1}>
        <OfflineBanner />
        <Notices />
        <Suspense>
          <Outlet />
        </Suspense>
      </main>
      {uploads.length > 0 && (
        <Suspense>
          <UploadTray />
        </Suspense>
      )}
      {(overlays.isUsed || isAsked) && (
        <Suspense>
          <Overlays open={overlays.open} onOpen={(overlay) => overlays.change(() => overlay)} />
        </Suspense>
      )}
    </div>
  )
}

/** The side bar, notices and dialogs around every page. */
export const Layout = () => (
  <SignedIn loading={<FrameSkeleton />}>
    <StepUp>
      <Shell />
    </StepUp>
  </SignedIn>
)
