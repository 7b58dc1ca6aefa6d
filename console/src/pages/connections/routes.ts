import type { RouteObject } from 'react-router'

export const connectionRoutes: RouteObject[] = [
  // `?search=` filters the catalog, `?connect=` is the slug of the connector to connect, `?setup=` of
  // the one whose setup is explained, `?open=` the open connection.
  { path: 'connections', lazy: async () => ({ Component: (await import('./connections.tsx')).Connections }) },
]
