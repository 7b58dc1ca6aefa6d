import type { RouteObject } from 'react-router'

export const eventRoutes: RouteObject[] = [
  {
    path: 'events',
    lazy: async () => ({ Component: (await import('./events.tsx')).Events }),
    children: [
      // `?event=` is the ID of the open event; `?type=` and `?resource=` are filters.
      { index: true, lazy: async () => ({ Component: (await import('./event-log.tsx')).EventLog }) },
      // `?open=` is the open type.
      { path: 'types', lazy: async () => ({ Component: (await import('./event-types.tsx')).EventTypes }) },
    ],
  },
]
