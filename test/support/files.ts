import assert from 'node:assert/strict'
import { sql } from '../../src/platform/database/database.ts'
import { verifyUsage } from '../../src/quotas/verify.ts'
import type { Answer, TestActor, TestApp } from '../harness.ts'

export type Part = { name: string; filename?: string; type?: string; headers?: string[] } & { value: string | Buffer }

export const boundary = 'atrium-test-boundary'

/** A multipart body, byte for byte as given: no escaping, so that broken ones can be made as well. */
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

/** Uploads bytes as a form and answers the file's record. */
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

/** A folder, link or pending upload, by JSON; answers `data`. */
export const create = async (app: TestApp, as: TestActor, json: Record<string, unknown>) => {
  const { status, body, text } = await app.call('POST', '/api/v1/files', { as, json })
  assert.equal(status, 201, text)
  return body.data
}

export const createFolder = async (app: TestApp, as: TestActor, name: string, parentId?: string) =>
  (await create(app, as, { source: 'folder', name, parentId })).file

/** The path of a URL that the API handed out, for `call`. */
export const pathOf = (app: TestApp, url: string): string => {
  assert.ok(url.startsWith(`${app.url}/`), `${url} does not start with ${app.url}`)
  return url.slice(app.url.length)
}

/** All that an upload could leave behind, anywhere, once what earlier tests deleted is gone. */
export const traces = async (app: TestApp) => {
  await app.settled()
  const objects: string[] = []
  for await (const { key } of app.deps.objects.list('')) objects.push(key)
  const counts = await app.db.row<{ files: bigint; blobs: bigint; counted: bigint }>(sql`
    select (select count(*) from files where deleted_at is null) as files, (select count(*) from blobs) as blobs,
      (select coalesce(sum(children), 0)::bigint from folder_counts) as counted`)
  return { ...counts, objects: objects.toSorted(), unfinished: await app.deps.objects.unfinished() }
}

/** Runs `refused` and asserts its answer's code, and that nothing of it is left anywhere. */
export const leavesNothing = async (app: TestApp, code: string, refused: () => Promise<Answer>): Promise<Answer> => {
  const before = await traces(app)
  const answer = await refused()
  assert.equal(answer.body?.error?.code, code, answer.text)
  assert.deepEqual(await traces(app), before)
  return answer
}

/** Whether an org's counts, of children of every live folder and of what its quotas limit, are what counting gives. */
export const countsAreExact = async (app: TestApp, orgId: string): Promise<void> => {
  const wrong = await app.db.rows(sql`
    select container, sum(children) as counted, sum(rows) as present from (
      select folder_id as container, children, 0 as rows from folder_counts where org_id = ${orgId}
      union all
      select container_id, 0, 1 from files where org_id = ${orgId} and deleted_at is null
    ) both_sides
    group by container having sum(children) <> sum(rows)`)
  assert.deepEqual(wrong, [])
  assert.deepEqual(await verifyUsage(app.db, orgId, { repair: false }), [])
}
