import type { RouteObject } from 'react-router'

export const billingRoutes: RouteObject[] = [
  {
    path: 'billing',
    lazy: async () => ({ Component: (await import('./billing.tsx')).Billing }),
    children: [
      // `?checkout=` is set when the payment provider redirects back.
      { index: true, lazy: async () => ({ Component: (await import('./overview.tsx')).Overview }) },
      // `?period=` is the time range, `?by=` the breakdown.
      { path: 'spending', lazy: async () => ({ Component: (await import('./spending.tsx')).SpendingPage }) },
      // `?type=` filters the list.
      { path: 'transactions', lazy: async () => ({ Component: (await import('./transactions.tsx')).Transactions }) },
      { path: 'documents', lazy: async () => ({ Component: (await import('./documents.tsx')).Documents }) },
      { path: 'usage', lazy: async () => ({ Component: (await import('./usage.tsx')).Usage }) },
      { path: 'plans', lazy: async () => ({ Component: (await import('./plans.tsx')).Plans }) },
    ],
  },
]
