import { readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RpcRequest } from './rpc.ts'
import type { Era } from './versions.ts'

/** One JSON-RPC request with its HTTP request and reply. */
export interface RpcContext {
  request: FastifyRequest
  reply: FastifyReply
  era: Era
  message: RpcRequest
  /** Whether the response may be a stream of events. False within a batch. */
  canStream: boolean
}

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}
export const serverInfo = { name: 'atrium', title: 'Atrium', version }

/** The `Mcp-Session-Id` of a legacy client. Nothing is stored under it, and it authenticates no one. */
export const sessionName = ({ headers }: FastifyRequest): string | undefined => {
  const name = headers['mcp-session-id']
  return typeof name === 'string' && /^[\x21-\x7e]{1,128}$/.test(name) ? name : undefined
}

/** A result with the fields that its protocol revision requires in every result. */
export const toRevisionResult = (era: Era, result: object): object =>
  era === 'legacy'
    ? result
    : { resultType: 'complete', ...result, _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } }
