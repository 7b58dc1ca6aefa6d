import type { RouteObject } from 'react-router'

export const fileRoutes: RouteObject[] = [
  // `?search=`, `?open=` and the selected folder are in the address.
  { path: 'files/:folderId?', lazy: async () => ({ Component: (await import('./files.tsx')).Files }) },
]
