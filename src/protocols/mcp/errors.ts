import type { FastifyRequest } from 'fastify'
import { challengeOf, mcpPath } from '../../identity/apps/metadata.ts'
import type { ErrorFormat } from '../../platform/http/error-formats.ts'
import { forbidden } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { originOf } from '../../platform/http/http.ts'
import { idOf, rpcErrorResponse } from './rpc.ts'

const headersOf = ({ code }: ApiError, request: FastifyRequest, baseUrl: string | undefined): Record<string, string> =>
  code === 'UNAUTHORIZED' ? { 'www-authenticate': challengeOf(request, baseUrl) } : {}

/** JSON-RPC errors, and 405 for the HTTP methods that a server without sessions does not support (MCP, streamable HTTP). */
export const mcpErrors = (baseUrl: string | undefined): ErrorFormat => ({
  prefix: mcpPath,
  failure: (error, request) => {
    const { body } = request
    const [path] = request.url.split('?', 1)
    return {
      body: rpcErrorResponse(error, idOf(body), body),
      headers: headersOf(error, request, baseUrl),
      ...(request.is404 && path === mcpPath ? { status: 405 } : {}),
    }
  },
})

const addressOrLocal = /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])(?::\d+)?$/i

/**
 * FORBIDDEN for a request from a page of another site. Without BASE_URL the server does not know its own name, and an
 * attacker's domain that resolves to this server (DNS rebinding) would match the Host header: then only IP addresses and
 * localhost are accepted as Origin. Programs other than browsers send no Origin.
 */
export const requireSafeOrigin = (request: FastifyRequest, baseUrl: string | undefined): void => {
  const { origin } = request.headers
  if (origin === undefined) return
  const isOwn =
    baseUrl === undefined
      ? addressOrLocal.test(request.host) && origin === originOf(request, undefined)
      : origin === new URL(baseUrl).origin
  if (!isOwn) throw forbidden('Origin must be the origin of this server. Set BASE_URL if the server has a domain name.')
}
