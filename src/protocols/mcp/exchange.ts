import { readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RpcRequest } from './rpc.ts'
import type { Era } from './versions.ts'

/** One request on its way to its answer. */
export interface Exchange {
  request: FastifyRequest
  reply: FastifyReply
  era: Era
  message: RpcRequest
  /** Whether the answer may be a stream of events: not within a batch. */
  mayStream: boolean
}

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}
export const serverInfo = { name: 'atrium', title: 'Atrium', version }

/** What a client of a revision with a handshake calls itself by. It is only a name, and may be anybody's. */
export const sessionName = ({ headers }: FastifyRequest): string | undefined => {
  const name = headers['mcp-session-id']
  return typeof name === 'string' && /^[\x21-\x7e]{1,128}$/.test(name) ? name : undefined
}

/** A result with what its revision wants in every one. */
export const forEra = (era: Era, result: object): object =>
  era === 'handshake'
    ? result
    : { resultType: 'complete', ...result, _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } }
