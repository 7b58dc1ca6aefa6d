// What other areas and the composition of the server use of connectors.
export { createConnectorTools, toolNamesOf } from './agent-tools.ts'
export { catalog, checkCatalog } from './catalog/catalog.ts'
export type { ChatRuntime } from './chats/runtime.ts'
export { findOrgOfLinear } from './endpoints/linear-binding-queries.ts'
