import type { RouteObject } from 'react-router'

export const connectionRoutes: RouteObject[] = [
  // `?search=` filters the catalog, `?connect=` is the slug of the connector to connect, `?open=` the open connection.
  { path: 'connections', lazy: async () => ({ Component: (await import('./connections.tsx')).Connections }) },
]
