import type { RouteObject } from 'react-router'

export const fileRoutes: RouteObject[] = [
  { path: 'files/trash', lazy: async () => ({ Component: (await import('./trash/trash.tsx')).Trash }) },
  // `?search=` filters by name, `?open=` is the file in the preview.
  { path: 'files/:folderId?', lazy: async () => ({ Component: (await import('./files.tsx')).Files }) },
]
