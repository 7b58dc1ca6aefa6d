import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { available } from '../../../test/support/require.ts'

interface Result {
  code: number
  output: string
}

const run = (command: string, args: string[], env: Record<string, string> = {}): Promise<Result> =>
  new Promise((resolve) => {
    const options = { env: { PATH: process.env['PATH'] ?? '', ...env }, cwd: folder, maxBuffer: 64 * 2 ** 20 }
    execFile(command, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, output: stdout + stderr })
    })
  })

const folder = await mkdtemp(join(tmpdir(), 'atrium-webdav-'))
after(() => rm(folder, { recursive: true, force: true }))
const app = await startTestApp()

const has = async (command: string): Promise<boolean> => (await run('which', [command])).code === 0
const hasLitmus = await available('litmus', () => has('litmus'), 'apt-get install litmus')
const hasRclone = await available('rclone', () => has('rclone'), 'apt-get install rclone')

if (hasLitmus) {
  test('litmus, the test suite for WebDAV servers, passes in all its parts without a warning', async () => {
    const owner = await app.createOrg()
    const { code, output } = await run('litmus', ['-k', `${app.url}/dav/`, 'anyone', owner.key], { HOME: folder })
    assert.equal(code, 0, output)
    const summaries = [...output.matchAll(/summary for `(\w+)': of (\d+) tests run: (\d+) passed, 0 failed/g)]
    assert.deepEqual(
      summaries.map(([, name]) => name),
      ['basic', 'copymove', 'props', 'locks', 'http'],
      output,
    )
    for (const [line, , all, passed] of summaries) assert.equal(passed, all, line)
    assert.doesNotMatch(output, /WARNING|FAIL/)
  })
}

const fileCount = Number(process.env['WEBDAV_FILES'] ?? 200)

/** Writes files of different names and sizes. Returns the SHA-256 of each by its path. */
const writeTree = async (root: string): Promise<Map<string, string>> => {
  for (let index = 0; index < fileCount; index++) {
    const names = [`file ${index}.bin`, `größe ${index} ⟨ü⟩.txt`, `100%#?&+ ${index};.md`, `${index}.csv`]
    const parent = join(root, `folder ${index % 7}`, index % 3 === 0 ? 'sub & folder' : '')
    await mkdir(parent, { recursive: true })
    const bytes = Buffer.alloc((index * 977) % 20_000, `${index}, `)
    await writeFile(join(parent, names[index % names.length] ?? ''), bytes)
  }
  return hashesOf(root)
}

const hashesOf = async (root: string): Promise<Map<string, string>> => {
  const hashes = new Map<string, string>()
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    hashes.set(
      relative(root, path),
      createHash('sha256')
        .update(await readFile(path))
        .digest('hex'),
    )
  }
  return new Map([...hashes].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

if (hasRclone) {
  const rclone = async (owner: TestActor, ...args: string[]): Promise<Result> => {
    const obscured = (await run('rclone', ['obscure', owner.key])).output.trim()
    return run('rclone', ['--config', '/dev/null', '--transfers', '4', '--retries', '1', ...args], {
      HOME: folder,
      RCLONE_CONFIG_ATRIUM_TYPE: 'webdav',
      RCLONE_CONFIG_ATRIUM_URL: `${app.url}/dav`,
      RCLONE_CONFIG_ATRIUM_VENDOR: 'other',
      RCLONE_CONFIG_ATRIUM_USER: 'anyone',
      RCLONE_CONFIG_ATRIUM_PASS: obscured,
    })
  }

  test(`rclone copies a tree of ${fileCount} files there and back, byte for byte`, async () => {
    const owner = await app.createOrg()
    const source = join(folder, 'there')
    const back = join(folder, 'back')
    const before = await writeTree(source)
    assert.equal(before.size, fileCount)
    const sent = await rclone(owner, 'copy', source, 'atrium:tree')
    assert.equal(sent.code, 0, sent.output)
    const received = await rclone(owner, 'copy', 'atrium:tree', back)
    assert.equal(received.code, 0, received.output)
    assert.deepEqual(await hashesOf(back), before)
    const moved = await rclone(owner, 'moveto', 'atrium:tree', 'atrium:other tree')
    assert.equal(moved.code, 0, moved.output)
    const checked = await rclone(owner, 'check', '--download', source, 'atrium:other tree')
    assert.equal(checked.code, 0, checked.output)
  })
}
