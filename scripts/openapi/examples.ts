import { createHash } from 'node:crypto'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  const?: Json
  default?: Json
  examples?: Json[]
  enum?: Json[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  minimum?: number
}

/** Names of references to a resource that do not contain its name. */
const aliases: Record<string, string> = {
  actor: 'user',
  authoritychangedby: 'user',
  author: 'agent',
  boundby: 'user',
  chain: 'turn',
  changedby: 'user',
  createdby: 'user',
  event: 'webhookevent',
  existingconnection: 'connection',
  fromagent: 'agent',
  folder: 'parent',
  participant: 'agent',
  peermessage: 'message',
  reply: 'message',
}

/** `agentId`, and `id` in an Agent, are both `agent`. */
const resourceOf = (name: string, parent: string): string => {
  const resource = (name === 'id' ? parent : name)
    .replace(/(Ids?|s)$/, '')
    .replace(/(WithSecret|Created)$/, '')
    .toLowerCase()
  return aliases[resource] ?? resource
}

/** A UUID version 7 that is always the same for the same resource, so that the examples refer to each other. */
const idOf = (resource: string): string => {
  const hash = createHash('sha256').update(resource).digest('hex')
  return `01a1fc7d-${hash.slice(0, 4)}-7${hash.slice(4, 7)}-a${hash.slice(7, 10)}-${hash.slice(10, 22)}`
}

const byFormat = (format: string | undefined, name: string, parent: string): Json | undefined => {
  if (format === 'uuid') return idOf(resourceOf(name, parent))
  return format === 'date-time' ? '2026-11-21T14:02:11.480Z' : undefined
}

/**
 * Examples of whole requests and responses, composed from the `examples` of single fields, their constants and first
 * enum values. Throws for a field from whose schema no example follows.
 */
export const createExamples = (schemas: Record<string, unknown>) => {
  const exampleOf = (schema: Schema, name: string, parent: string, path: string): Json | undefined => {
    const [given] = schema.examples ?? []
    if (given !== undefined) return given
    if (schema.const !== undefined) return schema.const
    if (schema.$ref !== undefined) {
      const component = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
      return exampleOf(schemas[component] as Schema, name, component, component)
    }
    if (schema.enum !== undefined) return schema.enum[0]
    if (schema.default !== undefined) return schema.default
    if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0] ?? {}, name, parent, path)
    const type = [schema.type].flat()[0]
    if (type === 'object') return objectOf(schema, name, path)
    if (type === 'array') {
      const item = exampleOf(schema.items ?? {}, name, name, `${path}[]`)
      return item === undefined ? [] : [item]
    }
    if (type === 'boolean') return false
    if (type === 'null') return null
    if (type === 'integer') return schema.minimum ?? 0
    if (type === undefined || schema.format === 'binary') return undefined
    const example = byFormat(schema.format, name, parent)
    if (example === undefined) throw new Error(`${path} needs an example`)
    return example
  }
  const objectOf = ({ properties = {} }: Schema, name: string, path: string): Json => {
    // The name of a component identifies its `id` better than the property that refers to it.
    const parent = schemas[path] === undefined ? name : path
    const entries = Object.entries(properties).map(([key, schema]): [string, Json | undefined] => [
      key,
      exampleOf(schema, key, parent, `${path}.${key}`),
    ])
    return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined))
  }
  return (schema: unknown, path: string): Json | undefined => exampleOf(schema as Schema, '', '', path)
}
