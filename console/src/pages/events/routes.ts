import type { RouteObject } from 'react-router'

export const eventRoutes: RouteObject[] = [
  {
    path: 'events',
    lazy: async () => ({ Component: (await import('./events.tsx')).Events }),
    children: [
      // `?event=` is the ID of the open event; `?type=` and `?resource=` are filters.
      { index: true, lazy: async () => ({ Component: (await import('./event-log.tsx')).EventLog }) },
      // `?new` opens the create dialog; `?search=` filters.
      {
        path: 'endpoints',
        lazy: async () => ({ Component: (await import('./endpoints/endpoint-list.tsx')).EndpointList }),
      },
      // `?open=` is the open type.
      { path: 'types', lazy: async () => ({ Component: (await import('./event-types.tsx')).EventTypes }) },
    ],
  },
  {
    path: 'events/endpoints/:endpointId',
    lazy: async () => ({ Component: (await import('./endpoints/endpoint.tsx')).EndpointPage }),
    children: [
      // `?delivery=` is the ID of the open delivery; `?status=` filters.
      {
        index: true,
        lazy: async () => ({ Component: (await import('./endpoints/deliveries.tsx')).EndpointDeliveries }),
      },
      {
        path: 'settings',
        lazy: async () => ({ Component: (await import('./endpoints/endpoint-settings.tsx')).EndpointSettings }),
      },
    ],
  },
]
