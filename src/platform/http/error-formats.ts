import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiError } from './errors.ts'

/** The format of errors below one path, for protocols that do not use the API's envelope. */
export interface ErrorFormat {
  /** The path of the protocol; the format applies to it and everything below. */
  prefix: string
  /** The response that replaces the envelope: JSON, or a text with its Content-Type in `headers`. The status defaults to that of the error. */
  failure(
    error: ApiError,
    request: FastifyRequest,
  ): { body: object | string; status?: number; headers?: Readonly<Record<string, string>> }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Used for every error below their paths: of authentication, limits, validation and unknown routes. */
    errorFormats: ErrorFormat[]
  }
}

export const registerErrorFormats = (app: FastifyInstance): void => {
  app.decorate('errorFormats', [])
}

const pathEnds = new Set([undefined, '/', '?'])

export const errorFormatOf = ({ server, url }: FastifyRequest): ErrorFormat | undefined =>
  server.errorFormats.find(({ prefix }) => url.startsWith(prefix) && pathEnds.has(url[prefix.length]))
