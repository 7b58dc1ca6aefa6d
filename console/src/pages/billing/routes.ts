import type { RouteObject } from 'react-router'

export const billingRoutes: RouteObject[] = [
  {
    path: 'billing',
    lazy: async () => ({ Component: (await import('./billing.tsx')).Billing }),
    children: [
      // `?checkout=` is how one comes back from the payment provider.
      { index: true, lazy: async () => ({ Component: (await import('./overview.tsx')).Overview }) },
      // `?period=` and `?by=` choose what is shown.
      { path: 'spending', lazy: async () => ({ Component: (await import('./spending.tsx')).SpendingPage }) },
      // `?type=` narrows the list.
      { path: 'transactions', lazy: async () => ({ Component: (await import('./transactions.tsx')).Transactions }) },
      { path: 'usage', lazy: async () => ({ Component: (await import('./usage.tsx')).Usage }) },
      { path: 'plans', lazy: async () => ({ Component: (await import('./plans.tsx')).Plans }) },
    ],
  },
]
