import { QueryClientProvider } from '@tanstack/react-query'
import { createBrowserRouter, useRouteError } from 'react-router'
import type { RouteObject } from 'react-router'
import { RouterProvider } from 'react-router/dom'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { AtriumError } from 'atrium-sdk'
import { queryClient } from './api.ts'
import { Layout } from './layout/layout.tsx'
import { agentRoutes } from './pages/agents/routes.ts'
import { billingRoutes } from './pages/billing/routes.ts'
import { chatRoutes } from './pages/chat/routes.ts'
import { connectionRoutes } from './pages/connections/routes.ts'
import { fileRoutes } from './pages/files/routes.ts'
import { homeRoutes } from './pages/home/routes.ts'
import { settingsRoutes } from './pages/settings/routes.ts'
import { webhookRoutes } from './pages/webhooks/routes.ts'
import { Button, ButtonLink } from './ui/forms/button.tsx'
import { EmptyState } from './ui/empty-state.tsx'
import { ErrorState } from './ui/error-state.tsx'
import { TooltipProvider } from './ui/tooltip.tsx'
import { Toasts } from './ui/toast.tsx'

const Missing = () => (
  <EmptyState title="There is no such page" action={<ButtonLink to="/">Go to Home</ButtonLink>}>
    The address may be mistyped, or the page has moved.
  </EmptyState>
)

/** A page that broke, or whose code is of an older build that the server no longer has. */
const Broken = () => {
  const error = useRouteError()
  if (error instanceof AtriumError) return <ErrorState error={error} />
  return (
    <EmptyState title="This page broke" action={<Button onClick={() => location.reload()}>Load it again</Button>}>
      {error instanceof Error ? error.message : String(error)}
    </EmptyState>
  )
}

// Every area has its own routes, which load their pages when they are opened.
const areas: RouteObject[] = [
  ...homeRoutes,
  ...fileRoutes,
  ...agentRoutes,
  ...chatRoutes,
  ...webhookRoutes,
  ...billingRoutes,
  ...connectionRoutes,
  ...settingsRoutes,
]

const router = createBrowserRouter([
  {
    path: '/sign-in',
    lazy: async () => ({ Component: (await import('./pages/sign-in/sign-in.tsx')).SignIn }),
    HydrateFallback: () => null,
    ErrorBoundary: Broken,
  },
  {
    Component: Layout,
    HydrateFallback: () => null,
    ErrorBoundary: Broken,
    children: [{ ErrorBoundary: Broken, children: [...areas, { path: '*', Component: Missing }] }],
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
