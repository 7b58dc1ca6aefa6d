import { createModelCatalog } from './agents/agents.ts'
import { ConfigError, parseConfig } from './config/config.ts'
import type { Config } from './config/config.ts'
import { connectorPrefix } from './config/connectors.ts'
import { catalog } from './connectors/catalog/catalog.ts'

const checkDefaultModel = ({ defaultAgentModel, modelProviders }: Config): string[] => {
  const model = createModelCatalog(modelProviders).find(defaultAgentModel)
  if (model?.available && !model.capabilities.embeddings) return []
  const reason = model?.capabilities.embeddings ? 'is an embedding model' : model?.unavailableReason
  return [`DEFAULT_AGENT_MODEL ${defaultAgentModel}: ${reason ?? 'no such model'}`]
}

const checkConnectors = ({ connectors }: Config): string[] =>
  [...connectors.keys()]
    .filter((slug) => !catalog.has(slug))
    .map((slug) => `${connectorPrefix(slug)}_* names no connector; connectors are ${[...catalog.keys()].join(', ')}`)

/**
 * The configuration of a server, including the names that only the areas can check: models and connectors. Throws a
 * ConfigError with every error.
 */
export const readConfig = (env: NodeJS.ProcessEnv): Config => {
  const config = parseConfig(env)
  const mistakes = [...checkDefaultModel(config), ...checkConnectors(config)]
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return config
}
