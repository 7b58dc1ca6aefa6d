import type { RouteObject } from 'react-router'

export const chatRoutes: RouteObject[] = [
  // `?agent=` narrows the list or chooses whom a new chat is with, `?receipt=` is the turn whose receipt is open.
  { path: 'chat/:sessionId?', lazy: async () => ({ Component: (await import('./chat.tsx')).Chat }) },
]
