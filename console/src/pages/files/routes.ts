import type { RouteObject } from 'react-router'

export const fileRoutes: RouteObject[] = [
  { path: 'files/trash', lazy: async () => ({ Component: (await import('./trash/trash.tsx')).Trash }) },
  { path: 'files/usage', lazy: async () => ({ Component: (await import('./usage/usage.tsx')).Storage }) },
  { path: 'files/recent', lazy: async () => ({ Component: (await import('./files.tsx')).RecentFiles }) },
  { path: 'files/favorites', lazy: async () => ({ Component: (await import('./files.tsx')).Favorites }) },
  // `?search=` filters by name, `?open=` is the file in the preview.
  { path: 'files/:folderId?', lazy: async () => ({ Component: (await import('./files.tsx')).Files }) },
]
