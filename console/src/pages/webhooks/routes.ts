import type { RouteObject } from 'react-router'

export const webhookRoutes: RouteObject[] = [
  {
    path: 'webhooks',
    lazy: async () => ({ Component: (await import('./webhooks.tsx')).Webhooks }),
    children: [
      // `?new` opens the create dialog.
      { index: true, lazy: async () => ({ Component: (await import('./webhook-list.tsx')).WebhookList }) },
      // `?event=` is the open event as `<webhook ID>.<event ID>`.
      { path: 'events', lazy: async () => ({ Component: (await import('./events.tsx')).OrgEvents }) },
    ],
  },
  {
    path: 'webhooks/:webhookId',
    lazy: async () => ({ Component: (await import('./webhook.tsx')).WebhookPage }),
    children: [
      { index: true, lazy: async () => ({ Component: (await import('./events.tsx')).WebhookEvents }) },
      // `?delivery=` is the ID of the open delivery.
      { path: 'deliveries', lazy: async () => ({ Component: (await import('./deliveries.tsx')).Deliveries }) },
      { path: 'settings', lazy: async () => ({ Component: (await import('./webhook-settings.tsx')).WebhookSettings }) },
    ],
  },
]
