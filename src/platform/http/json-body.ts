import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import secureJson from 'secure-json-parse'
import { badRequest } from './errors.ts'
import { maxJsonDepth, jsonDepth } from './json-depth.ts'

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

const hasOnlyStorableText = (value: unknown): boolean => {
  if (typeof value === 'string') return isStorable(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(hasOnlyStorableText)
  return Object.entries(value).every(([key, inner]) => isStorable(key) && hasOnlyStorableText(inner))
}

/** Parses a JSON body of which nothing is stored: its strings may be any text. */
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
 * Parses a JSON body. Refuses with BAD_REQUEST what no route could store or would be fooled by: invalid UTF-8, NUL
 * and lone surrogates in strings, `__proto__` and `constructor.prototype` keys, more than 64 levels.
 */
export const parseJsonBody = (body: Buffer): unknown => {
  const value = parseAnyJson(body)
  // Only an escape can bring in what isUtf8 did not see.
  if (body.includes(unicodeEscape) && !hasOnlyStorableText(value)) {
    throw badRequest('The body contains text that cannot be stored: NUL or half of a surrogate pair.')
  }
  return value
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of a JSON body, for what must be compared or verified byte for byte. */
    rawBody: Buffer | undefined
  }
}

const takeJson = (app: FastifyInstance, parse: (body: Buffer) => unknown): void => {
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
  takeJson(app, parseJsonBody)
}

/** For the routes of a scope that store nothing of their JSON: NUL and halves of surrogate pairs are text, too. */
export const takeAnyJson = (scope: FastifyInstance): void => takeJson(scope, parseAnyJson)

/**
 * For the routes of a scope that verify what came: the bytes, whatever their Content-Type. One that is malformed would
 * be refused before a route sees it, so it is put aside meanwhile.
 */
export const takeBytes = (scope: FastifyInstance): void => {
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
