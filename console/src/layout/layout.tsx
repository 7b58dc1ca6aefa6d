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
import { CommandPalette } from './command-palette.tsx'
import { useUploads } from '../uploads.ts'
import { FrameSkeleton } from './frame-skeleton.tsx'
import { RouteProgress } from './route-progress.tsx'
import { ScopeRequest } from './scope-request.tsx'
import { ShortcutSheet } from './shortcut-sheet.tsx'
import { useShortcuts } from './shortcuts.ts'
import { SideBar } from './side-bar.tsx'

// Loaded with the first upload.
const UploadTray = lazy(async () => ({
  default: (await importWithRetry(() => import('./upload-tray.tsx'))).UploadTray,
}))

const Shell = () => {
  const { t } = useLingui()
  const uploads = useUploads()
  const [paletteOpen, setPaletteOpen] = useState(false)
  const { pathname } = useLocation()
  // Bound to the path, so that navigation closes the drawer.
  const [drawerOn, setDrawerOn] = useState<string>()
  const drawerOpen = drawerOn === pathname
  const setDrawerOpen = (open: boolean): void => setDrawerOn(open ? pathname : undefined)
  useEffect(() => {
    if (wasUpdated()) toast.done(t`Atrium was updated to a new version`)
  }, [t])
  const [sheetOpen, setSheetOpen] = useState(false)
  useShortcuts(
    () => setPaletteOpen((open) => !open),
    () => setSheetOpen(true),
  )
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
        <IconButton label={t`Search and commands`} icon={<Search />} onClick={() => setPaletteOpen(true)} />
      </header>
      {drawerOpen && <div className={styles['veil']} onClick={() => setDrawerOpen(false)} aria-hidden="true" />}
      <SideBar open={drawerOpen} onSearch={() => setPaletteOpen(true)} onShortcuts={() => setSheetOpen(true)} />
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
      <ScopeRequest />
      <CommandPalette open={paletteOpen} onClose={() => setPaletteOpen(false)} onShortcuts={() => setSheetOpen(true)} />
      <ShortcutSheet open={sheetOpen} onClose={() => setSheetOpen(false)} />
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
