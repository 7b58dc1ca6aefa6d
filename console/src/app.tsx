import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { i18n } from '@lingui/core'
import { I18nProvider, useLingui } from '@lingui/react'
import { QueryClientProvider } from '@tanstack/react-query'
import { createBrowserRouter, createPath, useRouteError } from 'react-router'
import type { RouteObject } from 'react-router'
import { RouterProvider } from 'react-router/dom'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { AtriumError } from '@atrium/client'
import { queryClient } from './api.ts'
import { PageLoadError, withRetry } from './load-page.ts'
import { FrameSkeleton } from './layout/frame-skeleton.tsx'
import { Layout } from './layout/layout.tsx'
import { agentRoutes } from './pages/agents/routes.ts'
import { billingRoutes } from './pages/billing/routes.ts'
import { chatRoutes } from './pages/chat/routes.ts'
import { connectionRoutes } from './pages/connections/routes.ts'
import { eventRoutes } from './pages/events/routes.ts'
import { fileRoutes } from './pages/files/routes.ts'
import { homeRoutes } from './pages/home/routes.ts'
import { settingsRoutes } from './pages/settings/routes.ts'
import { webhookRoutes } from './pages/webhooks/routes.ts'
import { Button, ButtonLink } from './ui/forms/button.tsx'
import { EmptyState } from './ui/empty-state.tsx'
import { ErrorState } from './ui/error-state.tsx'
import { Skeleton } from './ui/skeleton.tsx'
import { Tooltips } from './ui/tooltip.tsx'
import { Toasts } from './ui/toast.tsx'

const PageNotFound = () => (
  <EmptyState
    title={t`Page not found`}
    action={
      <ButtonLink to="/">
        <Trans>Go to home</Trans>
      </ButtonLink>
    }
  >
    <Trans>Check the URL. The page may have moved.</Trans>
  </EmptyState>
)

const PageError = () => {
  const error = useRouteError()
  if (error instanceof AtriumError) return <ErrorState error={error} />
  return (
    <EmptyState
      title={error instanceof PageLoadError ? t`This page could not be loaded` : t`This page could not be shown`}
      action={<Button onClick={() => location.reload()}>{t`Reload page`}</Button>}
    >
      {error instanceof Error ? error.message : String(error)}
    </EmptyState>
  )
}

// Each area lazily loads its pages.
const areas: RouteObject[] = [
  ...homeRoutes,
  ...fileRoutes,
  ...agentRoutes,
  ...chatRoutes,
  ...webhookRoutes,
  ...eventRoutes,
  ...billingRoutes,
  ...connectionRoutes,
  ...settingsRoutes,
]

const routes: RouteObject[] = [
  {
    path: '/sign-in',
    lazy: async () => ({ Component: (await import('./pages/sign-in/sign-in.tsx')).SignIn }),
    HydrateFallback: Skeleton,
    ErrorBoundary: PageError,
  },
  {
    path: '/authorize',
    lazy: async () => ({ Component: (await import('./pages/authorize/authorize.tsx')).Authorize }),
    HydrateFallback: Skeleton,
    ErrorBoundary: PageError,
  },
  {
    Component: Layout,
    HydrateFallback: FrameSkeleton,
    ErrorBoundary: PageError,
    children: [{ ErrorBoundary: PageError, children: [...areas, { path: '*', Component: PageNotFound }] }],
  },
]

/** The URL that is being opened; undefined when the person went elsewhere in the meantime. */
const targetUrl = (): string | undefined => {
  const { initialized, location: current, navigation } = router.state
  const next = navigation.location ?? (initialized ? undefined : current)
  return next && createPath(next)
}

const router = createBrowserRouter(withRetry(routes, targetUrl))

/** Another language renders everything again, because formatted dates and numbers do not observe it. */
const Pages = () => <RouterProvider key={useLingui().i18n.locale} router={router} />

export const App = () => (
  <CSPProvider disableStyleElements>
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queryClient}>
        <Pages />
        <Toasts />
        <Tooltips />
      </QueryClientProvider>
    </I18nProvider>
  </CSPProvider>
)
