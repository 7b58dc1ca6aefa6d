import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiError } from './errors.ts'

/** How the routes below one path tell a refusal, when they speak another protocol than ours. */
export interface Dialect {
  /** The path of the protocol: it and everything below it. */
  prefix: string
  /** What is answered in place of the envelope. The status is the error's own unless it says another. */
  failure(
    error: ApiError,
    request: FastifyRequest,
  ): { body: object; status?: number; headers?: Readonly<Record<string, string>> }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** For whatever refuses a request below their paths: authentication, limits, validation, or that there is no route. */
    dialects: Dialect[]
  }
}

export const registerDialects = (app: FastifyInstance): void => {
  app.decorate('dialects', [])
}

const ends = new Set([undefined, '/', '?'])

export const dialectOf = ({ server, url }: FastifyRequest): Dialect | undefined =>
  server.dialects.find(({ prefix }) => url.startsWith(prefix) && ends.has(url[prefix.length]))
