import { redirect } from 'react-router'
import type { RouteObject } from 'react-router'

export const settingsRoutes: RouteObject[] = [
  {
    path: 'settings',
    lazy: async () => ({ Component: (await import('./settings.tsx')).Settings }),
    children: [
      { index: true, loader: () => redirect('/settings/profile') },
      { path: 'profile', lazy: async () => ({ Component: (await import('./profile.tsx')).Profile }) },
    ],
  },
]
