import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { cephInstallHint, isCephInstalled, startBucket } from '../../../test/fakes/ceph.ts'
import { eventsOf, typesOf } from '../../../test/support/events.ts'
import { countsAreExact, create, leavesNothing, pathOf, sendForm, traces, upload } from '../../../test/support/files.ts'
import { append, ask, begun } from '../../../test/support/uploads/tus.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { hasPython } from '../../../test/support/zip-reader.ts'
import { until } from '../../../test/support/until.ts'
import { available } from '../../../test/support/require.ts'
import { createClient, uploadFile } from '../../../sdk/src/index.ts'
import { sql } from '../../platform/database/database.ts'
import { storeUnavailable } from '../../platform/object-store/object-store.ts'
import type { DirectUploads } from '../../platform/object-store/object-store.ts'
import { keepDirect } from '../direct/direct.ts'
import { removeExpired } from '../direct/ending.ts'

if (await available('s3', isCephInstalled, cephInstallHint)) {
  const { ceph, bucket, env: s3 } = await startBucket()
  after(() => ceph.stop())
  const app = await startTestApp(s3)
  const owner = await app.createOrg()
  const bytes = randomBytes(6_000_000)

  const download = async (id: string, headers: Record<string, string> = {}, method = 'GET') => {
    const redirect = await app.call('GET', `/api/v1/files/${id}?download=true`, { as: owner })
    assert.equal(redirect.status, 302)
    const url = redirect.headers.get('location') ?? ''
    return { url, response: await fetch(url, { method, headers }) }
  }

  test('with S3, a download redirects to the store, which responds with the type and name of the file', async () => {
    const file = await upload(app, owner, bytes, { name: 'Ärger.bin', type: 'application/octet-stream' })
    const { url, response } = await download(file.id, { range: 'bytes=5999990-' })
    assert.ok(url.startsWith(`${ceph.endpoint}/${bucket}/${file.storageKey}?`), url)
    assert.equal(response.status, 206)
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(-10)))
    assert.equal(response.headers.get('content-type'), 'application/octet-stream')
    assert.equal(
      response.headers.get('content-disposition'),
      `attachment; filename="_rger.bin"; filename*=UTF-8''%C3%84rger.bin`,
    )
    assert.match(url, /X-Amz-Expires=300/)
    const head = await fetch(url, { method: 'PUT', body: 'overwritten' })
    assert.equal(head.status, 403, 'a download URL never writes')
    assert.equal((await download(file.id)).response.headers.get('content-length'), '6000000')
  })

  test('with S3, an uploaded script or style sheet is downloaded as text/plain', async () => {
    for (const type of ['text/javascript', 'text/css']) {
      const file = await upload(app, owner, 'alert(1)', { name: 'code', type })
      const { response } = await download(file.id)
      assert.equal(await response.text(), 'alert(1)')
      assert.equal(response.headers.get('content-type'), 'text/plain')
      assert.match(response.headers.get('content-disposition') ?? '', /^attachment;/)
    }
  })

  test('with S3, inline content comes through the API, also by range', async () => {
    const file = await upload(app, owner, bytes, { type: 'application/octet-stream' })
    const response = await fetch(`${app.url}/api/v1/files/${file.id}?download=true&inline=true`, {
      headers: { authorization: `Bearer ${owner.key}`, range: 'bytes=100-1000099' },
    })
    assert.equal(response.status, 206)
    assert.match(response.headers.get('content-security-policy') ?? '', /sandbox/)
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(100, 1_000_100)))
  })

  test('with S3, a signed PUT passes through the API, and a rejected one leaves nothing in the bucket', async () => {
    const { file, uploadUrl } = await create(app, owner, {
      name: 'a',
      mimeType: 'application/octet-stream',
      size: bytes.length,
    })
    const path = pathOf(app, uploadUrl)
    await leavesNothing(app, 'BAD_REQUEST', () => app.call('PUT', path, { body: bytes.subarray(1) }))
    await leavesNothing(app, 'BAD_REQUEST', () =>
      app.call('PUT', path, { body: new Blob([bytes, Buffer.from('x')]).stream() }),
    )
    assert.equal((await app.call('PUT', path, { body: bytes })).status, 200)
    const { response } = await download(file.id)
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes))
  })

  test('with S3, rejected forms leave nothing in the bucket, and deleting a file deletes its object', async () => {
    await leavesNothing(app, 'BAD_REQUEST', () =>
      sendForm(app, owner, [
        { name: 'file', filename: 'f', type: 'application/octet-stream', value: randomBytes(6_000_000) },
        { name: 'parentId', value: 'nonsense' },
      ]),
    )
    const file = await upload(app, owner, 'short lived')
    const { url } = await download(file.id)
    await app.call('DELETE', `/api/v1/files/${file.id}?permanent=true`, { as: owner })
    await until('the object is deleted', async () => !(await traces(app)).objects.includes(file.storageKey))
    assert.equal((await fetch(url)).status, 404)
  })

  test('with S3, a resumable upload that is continued after a broken request has all its bytes', async () => {
    const own = randomBytes(5_500_000)
    const path = await begun(app, owner, { size: own.length })
    for (const [from, to] of [
      [0, 100_000],
      [100_000, 5_400_000],
      [5_400_000, own.length],
    ] as const) {
      assert.equal(Number((await ask(app, owner, path)).headers.get('upload-offset')), from)
      assert.equal((await append(app, owner, path, { offset: from, body: own.subarray(from, to) })).status, 204)
    }
    const id = (await ask(app, owner, path)).headers.get('atrium-file-id') ?? ''
    const { response } = await download(id)
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(own))
    const aborted = await begun(app, owner, { size: 100 })
    await append(app, owner, aborted, { offset: 0, body: own.subarray(0, 50) })
    assert.equal((await app.call('DELETE', aborted, { as: owner })).status, 204)
    await countsAreExact(app, owner.orgId)
  })

  describe('direct uploads', async () => {
    const api = await app.secondServer({ ...s3, S3_DIRECT_UPLOADS: '1', UPLOAD_MAX_BYTES: '5497558138880' })
    const type = 'application/octet-stream'
    const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')
    const uploadOf = (id: string, rest = ''): string => `/api/v1/files/${id}/upload${rest}`
    const begin = (as: TestActor, size: number, mimeType = type) => create(api, as, { name: 'a', mimeType, size })
    const put = (url: string, body: Buffer) => fetch(url, { method: 'PUT', body: body as Uint8Array<ArrayBuffer> })
    const complete = (as: TestActor, id: string) => api.call('POST', uploadOf(id, '/complete'), { as })
    const stateOf = async (as: TestActor, id: string) => (await api.call('GET', uploadOf(id), { as })).body.data
    const settledState = (as: TestActor, id: string) =>
      until(
        () => stateOf(as, id),
        (upload) => upload?.state === 'ready' || upload?.state === 'failed',
      )
    const fileOf = async (as: TestActor, id: string) => (await api.call('GET', `/api/v1/files/${id}`, { as })).body.data
    const bytesOf = async (id: string) => Buffer.from(await (await download(id)).response.arrayBuffer())
    const used = async (as: TestActor): Promise<number> =>
      (await api.call('GET', '/api/v1/quotas', { as })).body.data.items.find(
        ({ name }: { name: string }) => name === 'storedBytes',
      ).used
    const { objects } = app.deps
    const direct = objects.direct as DirectUploads
    /** Replaces an operation of the store while `work` runs. Both servers use one store each. */
    const failing = async <T>(name: 'begin' | 'parts' | 'complete' | 'abort', work: () => Promise<T>): Promise<T> => {
      const stores = [direct, api.deps.objects.direct as DirectUploads]
      const before = stores.map((store) => store[name])
      const broken = () => Promise.reject(storeUnavailable('ECONNREFUSED'))
      for (const store of stores) Object.assign(store, { [name]: broken })
      try {
        return await work()
      } finally {
        for (const [index, store] of stores.entries()) Object.assign(store, { [name]: before[index] })
      }
    }
    /** An upload of two parts: smaller ones than the server makes, because 100 MB take long. */
    const beginParts = async (as: TestActor, size: number) => {
      const created = await begin(as, size)
      await app.db.execute(sql`
        update direct_uploads set part_bytes = 5242880 where org_id = ${as.orgId} and file_id = ${created.file.id}`)
      return created
    }
    const urlsOf = async (as: TestActor, id: string, numbers: number[]) => {
      const { status, body, text } = await api.call('POST', uploadOf(id, '/parts'), { as, json: { numbers } })
      assert.equal(status, 200, text)
      return body.data.parts as { number: number; startByte: number; sizeBytes: number; url: string }[]
    }

    test('the bytes are sent to the bucket, verified, and cannot be replaced by the same URL', async () => {
      const org = await app.createOrg()
      const content = randomBytes(1_000)
      const { file, uploadUrl, upload } = await begin(org, content.length)
      assert.ok(uploadUrl.startsWith(`${ceph.endpoint}/${bucket}/${org.orgId}/`), uploadUrl)
      assert.deepEqual(
        [upload.state, upload.partBytes, upload.partCount, upload.receivedParts],
        ['open', content.length, 1, []],
      )
      assert.equal(await used(org), content.length)
      const tooEarly = await complete(org, file.id)
      assert.match(tooEarly.text, /1 of 1 parts have not arrived: 1/)
      assert.equal(tooEarly.status, 409)
      for (const wrong of [content.subarray(1), Buffer.concat([content, content])]) {
        assert.equal((await put(uploadUrl, wrong)).status, 403, 'the length is signed')
      }
      assert.equal((await put(uploadUrl.replace('partNumber=1', 'partNumber=2'), content)).status, 403)
      assert.equal((await put(uploadUrl.replace(org.orgId, owner.orgId), content)).status, 403)
      assert.deepEqual((await stateOf(org, file.id)).receivedParts, [])
      assert.equal((await put(uploadUrl, randomBytes(1_000))).status, 200)
      assert.equal((await put(uploadUrl, content)).status, 200, 'a part can be sent again')
      assert.deepEqual((await stateOf(org, file.id)).receivedParts, [1])
      assert.equal((await fileOf(org, file.id)).status, 'pending')
      const answers = await Promise.all(Array.from({ length: 4 }, () => complete(org, file.id)))
      assert.deepEqual(
        answers.map(({ status }) => status),
        [202, 202, 202, 202],
      )
      assert.equal((await settledState(org, file.id)).state, 'ready')
      const ready = await fileOf(org, file.id)
      assert.deepEqual([ready.status, ready.size, ready.contentHash], ['ready', content.length, sha256(content)])
      assert.equal((await put(uploadUrl, randomBytes(1_000))).status, 404, 'the URL has ended')
      const redirect = await app.call('GET', `/api/v1/files/${file.id}?download=true`, { as: org })
      const stored = await fetch(redirect.headers.get('location') ?? '')
      assert.ok(Buffer.from(await stored.arrayBuffer()).equals(content))
      assert.equal((await complete(org, file.id)).body.data.state, 'ready')
      assert.equal(
        (await api.call('POST', uploadOf(file.id, '/parts'), { as: org, json: { numbers: [1] } })).status,
        409,
      )
      assert.equal((await api.call('DELETE', uploadOf(file.id), { as: org })).status, 409)
      assert.deepEqual(typesOf(await eventsOf(app, org, file.id, 'file.updated')), ['file.created', 'file.updated'])
      await countsAreExact(app, org.orgId)
      assert.equal(await used(org), content.length)

      // The same bytes again share the object.
      const again = await begin(org, content.length)
      await put(again.uploadUrl, content)
      await complete(org, again.file.id)
      await settledState(org, again.file.id)
      assert.equal((await fileOf(org, again.file.id)).storageKey, ready.storageKey)
      await app.settled()
      const keys = (await traces(app)).objects.filter((key) => key.startsWith(org.orgId))
      assert.deepEqual(keys, [ready.storageKey])
    })

    test('parts arrive in any order and several times, and the file is read by the bytes that arrived last', async () => {
      const content = randomBytes(5_300_000)
      const { file } = await beginParts(owner, content.length)
      const [second, first] = await urlsOf(owner, file.id, [2, 1])
      assert.deepEqual([second?.startByte, second?.sizeBytes, first?.startByte], [5_242_880, 57_120, 0])
      const tail = content.subarray(5_242_880)
      await put(second?.url ?? '', randomBytes(57_120))
      assert.deepEqual((await stateOf(owner, file.id)).receivedParts, [2])
      assert.match((await complete(owner, file.id)).text, /1 of 2 parts have not arrived: 1/)
      assert.equal((await put(first?.url ?? '', content.subarray(0, 5_242_880))).status, 200)
      assert.equal((await put(second?.url ?? '', tail)).status, 200)
      const unknown = await api.call('POST', uploadOf(file.id, '/parts'), { as: owner, json: { numbers: [3] } })
      assert.match(unknown.text, /numbers must be at most 2/)
      assert.equal((await complete(owner, file.id)).status, 202)
      assert.equal((await settledState(owner, file.id)).state, 'ready')
      assert.equal((await fileOf(owner, file.id)).contentHash, sha256(content))
      assert.ok((await bytesOf(file.id)).equals(content))
    })

    test('a file of up to 5 TB has at most 10,000 parts, and no upload URL of its own', async () => {
      const org = await app.createOrg()
      await app.db.execute(sql`insert into org_quotas (org_id, name, value) values (${org.orgId}, 'storedBytes', null)`)
      for (const [size, partBytes] of [
        [104_857_601, 67_108_864],
        [5_497_558_138_880, 550_502_400],
      ] as const) {
        const { file, uploadUrl, upload } = await begin(org, size)
        assert.deepEqual(
          [uploadUrl, upload.partBytes, upload.partCount],
          [undefined, partBytes, Math.ceil(size / partBytes)],
        )
        assert.equal(await used(org), size)
        assert.equal((await api.call('DELETE', uploadOf(file.id), { as: org })).status, 200)
        assert.equal(await used(org), 0)
      }
      const json = { name: 'a', mimeType: type, size: 5_497_558_138_881 }
      assert.equal((await api.call('POST', '/api/v1/files', { as: org, json })).status, 400)
      const plain = await app.call('POST', '/api/v1/files', { as: org, json: { ...json, size: 104_857_601 } })
      assert.match(plain.text, /size must be at most 104857600/)
      assert.equal((await api.call('OPTIONS', '/api/v1/uploads')).headers.get('atrium-direct-uploads'), 'true')
      assert.equal((await app.call('OPTIONS', '/api/v1/uploads')).headers.get('atrium-direct-uploads'), null)
      const page = await fetch(`${api.url}/files`)
      assert.match(
        page.headers.get('content-security-policy') ?? '',
        new RegExp(`connect-src 'self' ${ceph.endpoint};`),
      )
      await countsAreExact(app, org.orgId)
    })

    test('an org has at most 1,000 uploads that are not ready, and one person 500 of them', async () => {
      const org = await app.createOrg()
      const [member, third] = [await app.createUser(org, 'member'), await app.createUser(org, 'member')]
      const json = { name: 'a', mimeType: type, size: 1 }
      const rejects = async (as: TestActor, message: string): Promise<void> => {
        const { status, text } = await api.call('POST', '/api/v1/files', { as, json })
        assert.deepEqual([status, text.includes(message)], [409, true], text)
      }
      const begun = new Map<TestActor, string>()
      for (const as of [member, org]) {
        begun.set(as, (await begin(as, 1)).file.id)
        await app.db.execute(sql`
          insert into direct_uploads (org_id, file_id, created_by, blob_id, store_id, size_bytes, part_bytes, expires_at,
            ends_at)
          select org_id, gen_random_uuid(), created_by, gen_random_uuid(), store_id, 1, 1, expires_at, ends_at
          from direct_uploads, generate_series(1, 499) where org_id = ${as.orgId} and created_by = ${as.userId}`)
        await rejects(as, 'A person has at most 500')
      }
      await rejects(third, 'An org has at most 1000')
      for (const [as, id] of begun) assert.equal((await api.call('DELETE', uploadOf(id), { as })).status, 200)
      assert.equal((await begin(member, 1)).file.status, 'pending')
      await app.db.execute(sql`update direct_uploads set expires_at = now() where org_id = ${org.orgId}`)
      await removeExpired(app.deps)
    })

    test('bytes of another type are deleted with their file, and the upload says why', async () => {
      const org = await app.createOrg()
      const { file, uploadUrl } = await begin(org, 9, 'image/png')
      await put(uploadUrl, Buffer.from('not a PNG'))
      assert.equal((await complete(org, file.id)).status, 202)
      const { state, error } = await settledState(org, file.id)
      assert.deepEqual([state, error], ['failed', 'The content of the file does not match the type image/png.'])
      assert.equal((await api.call('GET', `/api/v1/files/${file.id}`, { as: org })).status, 404)
      assert.equal(await used(org), 0)
      await countsAreExact(app, org.orgId)
      const { objects: keys, unfinished } = await traces(app)
      assert.deepEqual([keys.filter((key) => key.startsWith(org.orgId)), unfinished], [[], 0])
      assert.equal((await api.call('DELETE', uploadOf(file.id), { as: org })).status, 200, 'it can be forgotten')
      assert.equal((await api.call('GET', uploadOf(file.id), { as: org })).status, 404)
    })

    test('others cannot use an upload, nor can its person without access, and it is deleted when nobody completes it', async () => {
      const org = await app.createOrg()
      const stranger = await app.createOrg()
      const colleague = await app.createUser(org, 'admin')
      const person = await app.createUser(org, 'member')
      const { file, uploadUrl } = await begin(person, 3)
      await put(uploadUrl, Buffer.from('abc'))
      for (const as of [stranger, colleague]) {
        const parts = await api.call('POST', uploadOf(file.id, '/parts'), { as, json: { numbers: [1] } })
        const others = [await complete(as, file.id), await api.call('GET', uploadOf(file.id), { as }), parts]
        others.push(await api.call('DELETE', uploadOf(file.id), { as }))
        for (const { status, body } of others) assert.deepEqual([status, body.error.message], [404, 'Upload not found'])
      }
      const revoked = await app.call('DELETE', `/api/v1/api-keys/${person.apiKeyId}`, {
        as: org,
        headers: await app.stepUp(org),
      })
      assert.equal(revoked.status, 200, revoked.text)
      assert.equal((await complete(person, file.id)).status, 401)
      const { storageKey } = { storageKey: new URL(uploadUrl).pathname.replace(`/${bucket}/`, '') }
      assert.deepEqual(
        await keepDirect(app.db, [storageKey, `${org.orgId}/${stranger.orgId}`, 'a/b']),
        new Set([storageKey]),
      )
      assert.equal(await removeExpired(app.deps), 0)
      await app.db.execute(sql`update direct_uploads set expires_at = now() where org_id = ${org.orgId}`)
      assert.equal(await removeExpired(app.deps), 1)
      assert.equal((await put(uploadUrl, Buffer.from('abc'))).status, 404)
      // An upload ends when its person leaves the org.
      const { userId } = colleague
      await begin(colleague, 3)
      const member = await app.db.row<{ id: string }>(sql`
        select id from members where org_id = ${org.orgId} and user_id = ${userId}`)
      assert.equal((await app.call('DELETE', `/api/v1/members/${member?.id}`, { as: org })).status, 200)
      assert.equal(await removeExpired(app.deps), 1)
      assert.equal(await used(org), 0)
      await countsAreExact(app, org.orgId)
      const { objects: keys, unfinished } = await traces(app)
      assert.deepEqual([keys.filter((key) => key.startsWith(org.orgId)), unfinished], [[], 0])
      assert.deepEqual(await keepDirect(app.db, [storageKey]), new Set())
    })

    test('an unreachable bucket is a clear error at each step, makes nothing visible, and the upload is continued', async () => {
      const org = await app.createOrg()
      const json = { name: 'a', mimeType: type, size: 3 }
      const isFailure = ({ status, text }: { status: number; text: string }): void => {
        assert.equal(status, 503, text)
        assert.match(text, /store cannot be reached/)
      }
      isFailure(await failing('begin', () => api.call('POST', '/api/v1/files', { as: org, json })))
      assert.deepEqual((await api.call('GET', '/api/v1/files', { as: org })).body.data.items, [])
      assert.equal(await used(org), 0)
      const { file, uploadUrl } = await begin(org, 3)
      await put(uploadUrl, Buffer.from('abc'))
      await failing('parts', async () => {
        isFailure(await complete(org, file.id))
        isFailure(await api.call('GET', uploadOf(file.id), { as: org }))
      })
      assert.equal((await stateOf(org, file.id)).state, 'open')
      // Completed in the store, and the response is lost: as when the process is killed then.
      const store = direct.complete
      let completed = 0
      direct.complete = async (...given) => {
        await store(...given)
        completed += 1
        throw storeUnavailable('ECONNRESET')
      }
      assert.equal((await complete(org, file.id)).status, 202)
      await until('the store has made the object', () => completed === 1)
      direct.complete = store
      // The object exists, and the file is not ready before it is read.
      const { get } = objects
      let reads = 0
      objects.get = () => {
        reads += 1
        return Promise.reject(storeUnavailable('ECONNREFUSED'))
      }
      await until('the job is repeated', () => reads > 0)
      assert.deepEqual(
        [(await stateOf(org, file.id)).state, (await fileOf(org, file.id)).status],
        ['verifying', 'pending'],
      )
      assert.equal((await api.call('DELETE', uploadOf(file.id), { as: org })).status, 409)
      objects.get = get
      assert.equal((await settledState(org, file.id)).state, 'ready')
      assert.equal((await fileOf(org, file.id)).contentHash, sha256(Buffer.from('abc')))
      await countsAreExact(app, org.orgId)

      const other = await begin(org, 3)
      const aborted = await failing('abort', () => api.call('DELETE', uploadOf(other.file.id), { as: org }))
      assert.equal(aborted.status, 200, 'the reconciliation aborts it')
      assert.deepEqual(
        await keepDirect(app.db, [new URL(other.uploadUrl).pathname.slice(bucket.length + 2)]),
        new Set(),
      )
      assert.equal(await used(org), 3)
      for (const name of ['/parts', '/complete']) {
        const gone = await api.call('POST', uploadOf(other.file.id, name), { as: org, json: { numbers: [1] } })
        assert.equal(gone.status, 404, gone.text)
      }
    })

    if (await available('python3', hasPython, 'apt-get install python3'))
      test('the Python client sends files to the bucket by part', async () => {
        const path = join(await mkdtemp(join(tmpdir(), 'atrium-direct-')), 'parts.bin')
        const content = randomBytes(400_000)
        await writeFile(path, content)
        const script = [
          'import json, sys, pathlib',
          'from atrium_client import Client, upload_file',
          'seen = []',
          'client = Client(sys.argv[1], api_key=sys.argv[2])',
          'file = upload_file(client, pathlib.Path(sys.argv[3]), on_progress=lambda sent, total: seen.append((sent, total)))',
          'again = upload_file(client, b"abc", name="small.bin")',
          'print(json.dumps([file["contentHash"], seen[-1], again["status"]]))',
        ].join('\n')
        const args = ['-c', script, api.url, owner.key, path]
        const { stdout } = await promisify(execFile)('python3', args, { cwd: 'sdk-python' })
        assert.deepEqual(JSON.parse(stdout), [sha256(content), [content.length, content.length], 'ready'])
        await rm(dirname(path), { recursive: true })
      })

    test('the client of the SDK sends files to the bucket and waits until they are ready', async () => {
      const org = await app.createOrg()
      const sdk = createClient({ baseUrl: api.url, apiKey: org.key })
      const content = randomBytes(300_000)
      const progress: number[] = []
      const idempotencyKey = randomBytes(16).toString('hex')
      const file = await uploadFile(sdk, {
        content,
        name: 'sdk.bin',
        idempotencyKey,
        onProgress: ({ sentBytes }) => progress.push(sentBytes),
      })
      assert.deepEqual([file.status, file.contentHash], ['ready', sha256(content)])
      assert.equal(progress.at(-1), content.length)
      const again = await uploadFile(sdk, { content, name: 'sdk.bin', idempotencyKey })
      assert.equal(again.id, file.id, 'a repeated upload returns the stored file')
      await assert.rejects(
        uploadFile(sdk, { content: 'not a picture', name: 'a.png', mimeType: 'image/png' }),
        /does not match the type image\/png/,
      )
    })
  })
}
