import type { RouteObject } from 'react-router'

export const chatRoutes: RouteObject[] = [
  // `/chat` is the list of conversations, beside a new one if the screen is wide; `/chat/new` is a new one on a phone too.
  // `?agent=` filters the list and selects the agent of a new chat, `?receipt=` is the turn of the open receipt.
  { path: 'chat/:sessionId?', lazy: async () => ({ Component: (await import('./chat.tsx')).Chat }) },
]
