import type { RouteObject } from 'react-router'

export const chatRoutes: RouteObject[] = [
  // `?agent=` filters the list and selects the agent of a new chat, `?receipt=` is the turn of the open receipt.
  { path: 'chat/:sessionId?', lazy: async () => ({ Component: (await import('./chat.tsx')).Chat }) },
]
