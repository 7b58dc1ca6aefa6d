import type { RouteObject } from 'react-router'

export const connectionRoutes: RouteObject[] = [
  // `?search=` narrows the catalog, `?connect=` is what is being connected, `?open=` the connection that is looked at.
  { path: 'connections', lazy: async () => ({ Component: (await import('./connections.tsx')).Connections }) },
]
