// The interface of connectors for other modules and the composition root.
export { createConnectorTools, toolNamesOf } from './agent-tools.ts'
export { catalog, checkCatalog } from './catalog/catalog.ts'
export { revokeConnectionsOf } from './connections/former-members.ts'
export type { ChatRuntime } from './chats/runtime.ts'
export { findOrgOfLinear } from './endpoints/linear-binding-queries.ts'
