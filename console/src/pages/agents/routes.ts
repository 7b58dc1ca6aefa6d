import type { RouteObject } from 'react-router'

export const agentRoutes: RouteObject[] = [
  // `?search=` filters the list.
  { path: 'agents', lazy: async () => ({ Component: (await import('./agents.tsx')).Agents }) },
  { path: 'agents/new', lazy: async () => ({ Component: (await import('./new-agent.tsx')).NewAgent }) },
  {
    path: 'agents/:agentId',
    lazy: async () => ({ Component: (await import('./agent.tsx')).AgentPage }),
    children: [
      { index: true, lazy: async () => ({ Component: (await import('./conversations.tsx')).Conversations }) },
      // `?with=` is the ID of the open session.
      { path: 'messages', lazy: async () => ({ Component: (await import('./peer-messages.tsx')).PeerMessages }) },
      {
        path: 'connections',
        lazy: async () => ({ Component: (await import('./agent-connections.tsx')).AgentConnections }),
      },
      // `?test=` is the session of the test chat, which `?view=test` shows instead of the form on small screens.
      { path: 'settings', lazy: async () => ({ Component: (await import('./edit-agent.tsx')).EditAgent }) },
    ],
  },
]
