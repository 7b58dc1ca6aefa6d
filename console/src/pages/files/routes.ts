import type { RouteObject } from 'react-router'

export const fileRoutes: RouteObject[] = [
  // `?search=` filters by name, `?open=` is the file in the preview.
  { path: 'files/:folderId?', lazy: async () => ({ Component: (await import('./files.tsx')).Files }) },
]
