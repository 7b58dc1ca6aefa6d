import type { FastifyRequest } from 'fastify'
import type { ErrorFormat } from '../../platform/http/error-formats.ts'
import { forbidden } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { originOf } from '../../platform/http/http.ts'
import { idOf, rpcFailure } from './rpc.ts'

export const mcpPath = '/mcp'

const headersOf = ({ code }: ApiError): Record<string, string> =>
  code === 'UNAUTHORIZED' ? { 'www-authenticate': 'Bearer realm="atrium"' } : {}

/** Refusals as MCP's clients expect them: JSON-RPC errors, and 405 for methods that a server without sessions has not. */
export const mcpDialect: ErrorFormat = {
  prefix: mcpPath,
  failure: (error, request) => {
    const { body } = request
    const [path] = request.url.split('?', 1)
    return {
      body: rpcFailure(error, idOf(body), body),
      headers: headersOf(error),
      ...(request.is404 && path === mcpPath ? { status: 405 } : {}),
    }
  },
}

const addressOrLocal = /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])(?::\d+)?$/i

/**
 * FORBIDDEN for a request that another site's page sent. Without BASE_URL the server does not know its own name, and a
 * page that has its name lead here would have the right Origin: so only addresses, and localhost, which cannot be made
 * to lead elsewhere, are taken at their word. Programs that are no browser send no Origin.
 */
export const requireSafeOrigin = (request: FastifyRequest, baseUrl: string | undefined): void => {
  const { origin } = request.headers
  if (origin === undefined) return
  const isOwn =
    baseUrl === undefined
      ? addressOrLocal.test(request.host) && origin === originOf(request, undefined)
      : origin === new URL(baseUrl).origin
  if (!isOwn) throw forbidden('The Origin of this request is not this server. Set BASE_URL if the server has a name.')
}
