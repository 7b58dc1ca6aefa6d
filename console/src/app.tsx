import { QueryClientProvider } from '@tanstack/react-query'
import { createBrowserRouter, useRouteError } from 'react-router'
import type { RouteObject } from 'react-router'
import { RouterProvider } from 'react-router/dom'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { AtriumError } from '@atrium/client'
import { queryClient } from './api.ts'
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
import { TooltipProvider } from './ui/tooltip.tsx'
import { Toasts } from './ui/toast.tsx'

const PageNotFound = () => (
  <EmptyState title="Page not found" action={<ButtonLink to="/">Go to home</ButtonLink>}>
    Check the URL. The page may have moved.
  </EmptyState>
)

/** Also shown when the script of a page belongs to an older build that the server no longer has; reloading fixes that. */
const PageError = () => {
  const error = useRouteError()
  if (error instanceof AtriumError) return <ErrorState error={error} />
  return (
    <EmptyState
      title="This page could not be shown"
      action={<Button onClick={() => location.reload()}>Reload page</Button>}
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

const router = createBrowserRouter([
  {
    path: '/sign-in',
    lazy: async () => ({ Component: (await import('./pages/sign-in/sign-in.tsx')).SignIn }),
    HydrateFallback: () => null,
    ErrorBoundary: PageError,
  },
  {
    path: '/authorize',
    lazy: async () => ({ Component: (await import('./pages/authorize/authorize.tsx')).Authorize }),
    HydrateFallback: () => null,
    ErrorBoundary: PageError,
  },
  {
    Component: Layout,
    HydrateFallback: () => null,
    ErrorBoundary: PageError,
    children: [{ ErrorBoundary: PageError, children: [...areas, { path: '*', Component: PageNotFound }] }],
  },
])

export const App = () => (
  <CSPProvider disableStyleElements>
    <QueryClientProvider client={queryClient}>
      <TooltipProvider delay={350}>
        <Toasts>
          <RouterProvider router={router} />
        </Toasts>
      </TooltipProvider>
    </QueryClientProvider>
  </CSPProvider>
)
