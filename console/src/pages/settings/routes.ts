import { redirect } from 'react-router'
import type { RouteObject } from 'react-router'

export const settingsRoutes: RouteObject[] = [
  {
    path: 'settings',
    lazy: async () => ({ Component: (await import('./settings.tsx')).Settings }),
    children: [
      { index: true, loader: () => redirect('/settings/profile') },
      { path: 'profile', lazy: async () => ({ Component: (await import('./profile.tsx')).Profile }) },
      { path: 'organization', lazy: async () => ({ Component: (await import('./organization.tsx')).Organization }) },
      { path: 'members', lazy: async () => ({ Component: (await import('./members.tsx')).Members }) },
      { path: 'workspaces', lazy: async () => ({ Component: (await import('./workspaces.tsx')).Workspaces }) },
      { path: 'projects', lazy: async () => ({ Component: (await import('./projects.tsx')).Projects }) },
      { path: 'files', lazy: async () => ({ Component: (await import('./files.tsx')).FileSettings }) },
      { path: 'api-keys', lazy: async () => ({ Component: (await import('./api-keys.tsx')).ApiKeys }) },
      {
        path: 'authorized-apps',
        lazy: async () => ({ Component: (await import('./authorized-apps.tsx')).AuthorizedApps }),
      },
      { path: 'audit-log', lazy: async () => ({ Component: (await import('./audit-log.tsx')).AuditLog }) },
    ],
  },
]
