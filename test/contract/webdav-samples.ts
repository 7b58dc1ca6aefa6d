// Requests of WebDAV that succeed, for the sweep of the events that routes record.
import assert from 'node:assert/strict'
import type { CallOptions, TestActor, TestApp } from '../harness.ts'

type MakeSample = (app: TestApp, owner: TestActor) => Promise<{ path: string; options: CallOptions }>

/** A request for the last of these paths, after those before it were created: folders end with a slash. */
const sample =
  (paths: readonly string[], options: (app: TestApp) => CallOptions = () => ({})): MakeSample =>
  async (app, owner) => {
    for (const path of paths.slice(0, -1)) {
      const isFolder = path.endsWith('/')
      const body = isFolder ? {} : { body: path }
      const { status, text } = await app.call(isFolder ? 'MKCOL' : 'PUT', `/dav/${path}`, { as: owner, ...body })
      assert.equal(status, 201, text)
    }
    return { path: `/dav/${paths.at(-1)}`, options: { as: owner, ...options(app) } }
  }

const to = (path: string) => (app: TestApp) => ({ headers: { destination: `${app.url}/dav/${path}` } })
const depth = () => ({ headers: { depth: '0' } })

const lockInfo =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
const update =
  '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><a xmlns="urn:a">a</a></D:prop></D:set></D:propertyupdate>'

const unlocked: MakeSample = async (app, owner) => {
  const { headers } = await app.call('LOCK', '/dav/locked.txt', { as: owner, body: lockInfo })
  return { path: '/dav/locked.txt', options: { as: owner, headers: { 'lock-token': headers.get('lock-token') ?? '' } } }
}

export const webdavSamples: Record<string, MakeSample[]> = {
  'PROPFIND /dav': [async (_app, owner) => ({ path: '/dav', options: { as: owner, ...depth() } })],
  'PROPFIND /dav/*': [sample(['a.txt', 'a.txt'], depth)],
  'PROPPATCH /dav/*': [sample(['a.txt', 'a.txt'], () => ({ body: update }))],
  'MKCOL /dav/*': [sample(['a'])],
  'PUT /dav/*': [sample(['a.txt'], () => ({ body: 'new' })), sample(['a.txt', 'a.txt'], () => ({ body: 'other' }))],
  'DELETE /dav/*': [sample(['a.txt', 'a.txt']), sample(['a/', 'a/'])],
  'COPY /dav/*': [
    sample(['a.txt', 'a.txt'], to('b.txt')),
    sample(['a/', 'a/'], to('b')),
    sample(['a.txt', 'b.txt', 'a.txt'], to('b.txt')),
    sample(['a/', 'b/', 'a/'], to('b/')),
    sample(['a/', 'b.txt', 'a/'], to('b.txt')),
  ],
  'MOVE /dav/*': [
    sample(['a.txt', 'a.txt'], to('b.txt')),
    sample(['a.txt', 'b/', 'a.txt'], to('b/a.txt')),
    sample(['a/', 'a/'], to('b')),
    sample(['a/', 'b/', 'a/'], to('b/a')),
    sample(['a.txt', 'b.txt', 'a.txt'], to('b.txt')),
    sample(['a/', 'b/', 'a/'], to('b')),
  ],
  'LOCK /dav/*': [sample(['a.txt'], () => ({ body: lockInfo }))],
  'UNLOCK /dav/*': [unlocked],
}
