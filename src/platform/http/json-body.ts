import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import secureJson from 'secure-json-parse'
import { badRequest } from './errors.ts'
import { isCleanText } from '../text/text.ts'
import { maxJsonDepth, jsonDepth } from './json-depth.ts'

const hasOnlyCleanText = (value: unknown): boolean => {
  if (typeof value === 'string') return isCleanText(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(hasOnlyCleanText)
  return Object.entries(value).every(([key, inner]) => isCleanText(key) && hasOnlyCleanText(inner))
}

/** Parses a JSON body that is not stored, so that its strings may contain NUL and unpaired surrogates. */
const parseAnyJson = (body: Buffer): unknown => {
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw badRequest('The body is not valid UTF-8.')
  const text = body.toString('utf8')
  if (jsonDepth(text) > maxJsonDepth) throw badRequest(`The body is nested deeper than ${maxJsonDepth} levels.`)
  try {
    return secureJson.parse(text, undefined, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    const reason =
      error instanceof Error && /forbidden/.test(error.message) ? 'It contains a forbidden key.' : 'It does not parse.'
    throw badRequest(`The body is not acceptable JSON. ${reason}`, { cause: error })
  }
}

const unicodeEscape = Buffer.from('\\u')

/**
 * Parses a JSON body. Throws BAD_REQUEST for invalid UTF-8, NUL and unpaired surrogates in strings, the keys
 * `__proto__` and `constructor.prototype`, and more than 64 levels.
 */
export const parseJsonBody = (body: Buffer): unknown => {
  const value = parseAnyJson(body)
  // After isUtf8, only a \u escape can produce NUL or an unpaired surrogate.
  if (body.includes(unicodeEscape) && !hasOnlyCleanText(value)) {
    throw badRequest('The body contains text that cannot be stored: NUL or half of a surrogate pair.')
  }
  return value
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of a JSON body, for idempotency keys and signatures. */
    rawBody: Buffer | undefined
  }
}

const acceptJson = (app: FastifyInstance, parse: (body: Buffer) => unknown): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      request.rawBody = body as Buffer
      done(null, parse(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
}

export const registerJsonBody = (app: FastifyInstance): void => {
  app.decorateRequest('rawBody', undefined)
  acceptJson(app, parseJsonBody)
}

/** For routes of a scope that do not store their JSON: strings may contain NUL and unpaired surrogates. */
export const acceptAnyJson = (scope: FastifyInstance): void => acceptJson(scope, parseAnyJson)

/**
 * For routes of a scope that verify signatures: the body as bytes, with any Content-Type. Fastify rejects a malformed
 * Content-Type before the route, so the header is removed until the body has been read.
 */
export const acceptBytes = (scope: FastifyInstance): void => {
  const types = new WeakMap<IncomingMessage, string>()
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  scope.addHook('onRequest', ({ raw }, _reply, done) => {
    const type = raw.headers['content-type']
    if (type !== undefined) types.set(raw, type)
    delete raw.headers['content-type']
    done()
  })
  scope.addHook('preValidation', ({ raw }, _reply, done) => {
    const type = types.get(raw)
    if (type !== undefined) raw.headers['content-type'] = type
    done()
  })
}
