import assert from 'node:assert/strict'
import { releaseUnused } from '../../src/files/blobs/blobs.ts'
import { reconcile } from '../../src/files/blobs/reconciliation.ts'
import { sql } from '../../src/platform/database/database.ts'
import { verifyUsage } from '../../src/quotas/verify.ts'
import type { Answer, TestActor, TestApp } from '../harness.ts'

export type Part = { name: string; filename?: string; type?: string; headers?: string[] } & { value: string | Buffer }

export const boundary = 'atrium-test-boundary'

/** A multipart body without escaping, so that tests can build malformed bodies. */
export const formBody = (parts: Part[], end = `--${boundary}--\r\n`) =>
  Buffer.concat([
    ...parts.flatMap(({ name, filename, type, headers = [], value }) => [
      Buffer.from(
        [
          `--${boundary}`,
          `Content-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}`,
          ...(type === undefined ? [] : [`Content-Type: ${type}`]),
          ...headers,
          '\r\n',
        ].join('\r\n'),
      ),
      Buffer.from(value),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(end),
  ])

export const formType = `multipart/form-data; boundary=${boundary}`

export const sendForm = (app: TestApp, as: TestActor, body: Part[] | Uint8Array): Promise<Answer> =>
  app.call('POST', '/api/v1/files', {
    as,
    body: Array.isArray(body) ? formBody(body) : body,
    headers: { 'content-type': formType },
  })

export interface UploadOptions {
  name?: string
  type?: string
  parentId?: string
  projectId?: string
}

/** Uploads bytes as a form. Returns the record of the file. */
export const upload = async (
  app: TestApp,
  as: TestActor,
  bytes: string | Buffer,
  { name = 'file.txt', type = 'text/plain', parentId, projectId }: UploadOptions = {},
) => {
  const parts: Part[] = [{ name: 'file', filename: name, type, value: bytes }]
  if (parentId !== undefined) parts.push({ name: 'parentId', value: parentId })
  if (projectId !== undefined) parts.push({ name: 'projectId', value: projectId })
  const { status, body, text } = await sendForm(app, as, parts)
  assert.equal(status, 201, text)
  return body.data.file
}

/** Creates a folder, link or pending upload by JSON. Returns `data` of the response. */
export const create = async (app: TestApp, as: TestActor, json: Record<string, unknown>) => {
  const { status, body, text } = await app.call('POST', '/api/v1/files', { as, json })
  assert.equal(status, 201, text)
  return body.data
}

export const createFolder = async (app: TestApp, as: TestActor, name: string, parentId?: string) =>
  (await create(app, as, { source: 'folder', name, parentId })).file

/** The path of a URL in a response, for `call`. */
export const pathOf = (app: TestApp, url: string): string => {
  assert.ok(url.startsWith(`${app.url}/`), `${url} does not start with ${app.url}`)
  return url.slice(app.url.length)
}

/** Everything that an upload can leave behind, after the deletions of earlier tests have ended. */
export const traces = async (app: TestApp) => {
  await app.settled()
  const objects: string[] = []
  for await (const { key } of app.deps.objects.list('')) objects.push(key)
  const counts = await app.db.row<{ files: bigint; blobs: bigint; counted: bigint }>(sql`
    select (select count(*) from files where deleted_at is null) as files, (select count(*) from blobs) as blobs,
      (select coalesce(sum(children), 0)::bigint from folder_counts) as counted`)
  return { ...counts, objects: objects.toSorted(), unfinished: await app.deps.objects.unfinished() }
}

/** Runs `rejected`, asserts the error code of its response, and asserts that it leaves nothing behind. */
export const leavesNothing = async (app: TestApp, code: string, rejected: () => Promise<Answer>): Promise<Answer> => {
  const before = await traces(app)
  const answer = await rejected()
  assert.equal(answer.body?.error?.code, code, answer.text)
  assert.deepEqual(await traces(app), before)
  return answer
}

/** Whether the child counts of an org's folders, the sizes of its versions and its quota counters equal those of the rows. */
export const countsAreExact = async (app: TestApp, orgId: string): Promise<void> => {
  const wrong = await app.db.rows(sql`
    select container, sum(children) as counted, sum(rows) as present from (
      select folder_id as container, children, 0 as rows from folder_counts where org_id = ${orgId}
      union all
      select container_id, 0, 1 from files where org_id = ${orgId} and deleted_at is null
    ) both_sides
    group by container having sum(children) <> sum(rows)`)
  assert.deepEqual(wrong, [])
  const unequal = await app.db.rows(sql`
    select f.id, f.versions_bytes, coalesce(sum(coalesce(v.large_bytes, v.size_bytes)), 0)::bigint as found
    from files f left join file_versions v on v.org_id = f.org_id and v.file_id = f.id and v.deleted_at is null
    where f.org_id = ${orgId} and (f.deleted_at is null or f.trash_id is not null)
    group by f.id, f.versions_bytes having f.versions_bytes <> coalesce(sum(coalesce(v.large_bytes, v.size_bytes)), 0)`)
  assert.deepEqual(unequal, [])
  assert.deepEqual(await verifyUsage(app.db, orgId, { repair: false }), [])
}

/**
 * Runs the job that deletes unused bytes and the nightly one. That one deletes what uploads of killed processes left, and
 * must find no live bytes without a file. Asserts that every stored object then belongs to a file, a version or a part of
 * an upload, and that no row lacks its object.
 */
export const storesOnlyWhatIsUsed = async (app: TestApp, orgId: string): Promise<void> => {
  const { db } = app
  const { objects, log } = app.deps
  await releaseUnused(db, objects, orgId)
  const { missingObjects, unusedBlobs } = await reconcile({ db, objects, log }, { ageHours: 0 })
  assert.deepEqual({ missingObjects, unusedBlobs }, { missingObjects: 0, unusedBlobs: 0 })
  const used = await db.rows<{ key: string }>(sql`
    select org_id || '/' || blob_id as key from files
    where org_id = ${orgId} and blob_id is not null and (deleted_at is null or trash_id is not null)
    union select org_id || '/' || blob_id from file_versions where org_id = ${orgId} and deleted_at is null
    union select org_id || '/' || blob_id from upload_parts where org_id = ${orgId}`)
  const stored: string[] = []
  for await (const { key } of objects.list(`${orgId}/`)) stored.push(key)
  assert.deepEqual(stored.toSorted(), used.map(({ key }) => key).toSorted())
  await countsAreExact(app, orgId)
}

export interface Grant {
  kind: 'user' | 'workspace' | 'role'
  subject: string
  access: 'read' | 'write'
}

/** A grant to a person. */
export const grantTo = ({ userId: subject }: TestActor, access: 'read' | 'write'): Grant => ({
  kind: 'user',
  subject,
  access,
})

export const putAccess = (
  app: TestApp,
  as: TestActor,
  id: string,
  json: { restricted: boolean; grants?: Grant[] },
): Promise<Answer> => app.call('PUT', `/api/v1/files/${id}/access`, { as, json })

/** Restricts a folder. Returns `data` of the response. */
export const restrict = async (app: TestApp, as: TestActor, id: string, grants: Grant[] = []) => {
  const { status, body, text } = await putAccess(app, as, id, { restricted: true, grants })
  assert.equal(status, 200, text)
  return body.data
}

/** Whether the guards of every file, live or in the trash, are those that follow from the tree. */
export const guardsAreExact = async (app: TestApp, orgId: string): Promise<void> => {
  const wrong = await app.db.rows(sql`
    with recursive own (id, parent_id, guard) as (
      select f.id, f.parent_id,
        case when exists (select from restricted_folders r where r.org_id = ${orgId} and r.folder_id = f.id)
          then array[f.id] else '{}' end
      from files f where f.org_id = ${orgId} and (f.deleted_at is null or f.trash_id is not null)
    ), tree (id, guards) as (
      select id, guard from own where parent_id is null
      union all
      select own.id, tree.guards || own.guard from tree join own on own.parent_id = tree.id
    )
    select f.name, f.guards, tree.guards as expected from files f join tree on tree.id = f.id
    where f.org_id = ${orgId} and coalesce(f.guards, '{}') <> tree.guards`)
  assert.deepEqual(wrong, [])
}
