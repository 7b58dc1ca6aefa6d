import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { Type } from 'typebox'
import type { App } from '../../platform/http/http.ts'
import type { LimitName } from '../../platform/http/limits/rate-limit.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import type { Permission } from '../../identity/permissions.ts'
import type { EventType } from '../../outbox/catalog.ts'
import type { DavDeps } from './deps.ts'
import { davErrors, davPrefix } from './errors.ts'
import { allowed, get, mkcol, put, remove } from './files.ts'
import { lock, removeLock } from './locks/requests.ts'
import { propfind } from './properties/propfind.ts'
import { proppatch } from './properties/proppatch.ts'
import { copy, move } from './transfers.ts'

/** The XML of clients has a few hundred bytes; a PROPPATCH has up to 16,384 characters of properties. */
const bodyLimit = 65_536

type Handle = (deps: DavDeps, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

interface Method {
  method: string | string[]
  access: Permission
  rateLimit?: LimitName
  events?: EventType[]
  summary: string
  status: number
  handle: Handle
}

const capabilities = { dav: '1, 2', 'ms-author-via': 'DAV' }

const options: Handle = async (_deps, _request, reply) => reply.code(200).header('allow', allowed).send()

const created: EventType[] = ['file.created', 'folder.created']
const deleted: EventType[] = ['file.deleted', 'folder.deleted']
const replaced: EventType[] = ['file.updated', 'file.version_created']

const documents: Method[] = [
  {
    method: 'OPTIONS',
    access: 'files:read',
    rateLimit: 'reads',
    summary: 'List the methods',
    status: 200,
    handle: options,
  },
  { method: ['GET', 'HEAD'], access: 'files:read', summary: 'Download a file', status: 200, handle: get },
  {
    method: 'PROPFIND',
    access: 'files:read',
    rateLimit: 'reads',
    summary: 'List properties',
    status: 207,
    handle: propfind,
  },
  { method: 'PROPPATCH', access: 'files:write', summary: 'Set properties', status: 207, handle: proppatch },
  {
    method: 'MKCOL',
    access: 'files:write',
    events: ['folder.created'],
    summary: 'Create a folder',
    status: 201,
    handle: mkcol,
  },
  {
    method: 'DELETE',
    access: 'files:write',
    events: deleted,
    summary: 'Delete a file or folder',
    status: 204,
    handle: remove,
  },
  {
    method: 'COPY',
    access: 'files:write',
    events: [...created, ...replaced, ...deleted],
    summary: 'Copy a file or folder',
    status: 201,
    handle: copy,
  },
  {
    method: 'MOVE',
    access: 'files:write',
    events: ['file.moved', 'folder.updated', 'folder.moved', ...replaced, ...deleted],
    summary: 'Move a file or folder',
    status: 201,
    handle: move,
  },
  {
    method: 'LOCK',
    access: 'files:write',
    events: ['file.created'],
    summary: 'Lock a file or folder',
    status: 200,
    handle: lock,
  },
  { method: 'UNLOCK', access: 'files:write', summary: 'Unlock a file or folder', status: 204, handle: removeLock },
]

const upload: Method = {
  method: 'PUT',
  access: 'files:write',
  rateLimit: 'uploads',
  events: ['file.created', 'file.updated', 'file.version_created'],
  summary: 'Upload a file',
  status: 201,
  handle: put,
}

const isQuestion = (method: Method['method']): boolean => method === 'OPTIONS' || method === 'PROPFIND'

const routesOf = (
  deps: DavDeps,
  { method, access, rateLimit, events, summary, status, handle }: Method,
): RouteOptions[] =>
  // Clients that are given the address without its slash ask there what it is; everything else names a file.
  [...(isQuestion(method) ? [davPrefix] : []), `${davPrefix}/*`].map((url) => ({
    method,
    url,
    ...(method === 'PUT' ? {} : { bodyLimit }),
    config: {
      access,
      acceptsBasic: true as const,
      idempotency: false as const,
      ...(rateLimit === undefined ? {} : { rateLimit }),
      ...(events === undefined ? {} : { events }),
      ...(method === 'PUT' ? { upload: 'bytes' as const } : {}),
    },
    // The OpenAPI format has no path item for these methods.
    schema: { hide: true, summary, response: { [status]: status === 204 || status === 201 ? Nothing : Type.Any() } },
    handler: (request, reply) => {
      reply.headers(capabilities)
      return handle(deps, request, reply)
    },
  }))

/** WebDAV (RFC 4918, classes 1 and 2): the files of the org of an API key as a network drive. */
export const registerDavRoutes = (app: App, deps: DavDeps): void => {
  app.errorFormats.push(davErrors)
  for (const method of ['PROPFIND', 'PROPPATCH', 'MKCOL', 'COPY', 'MOVE', 'LOCK', 'UNLOCK'])
    app.addHttpMethod(method, { hasBody: true })

  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    // XML, whatever its Content-Type says.
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
      done(null, body)
    })
    for (const method of documents) for (const route of routesOf(deps, method)) scope.route(route)
  })

  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => {
      done(null, payload)
    })
    for (const route of routesOf(deps, upload)) scope.route(route)
  })
}
