import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { buildConsole } from './build-console.mjs'

const scripts = fileURLToPath(new URL('.', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'atrium-build-'))
after(() => rm(folder, { recursive: true, force: true }))

// A fake of Vite that writes the page, or fails when the page requires it.
const fakeVite = `
const fs = require('node:fs')
const out = process.argv[process.argv.indexOf('--outDir') + 1]
const text = fs.readFileSync('page.txt', 'utf8')
fs.appendFileSync('../builds', '.')
if (text === 'broken') { console.error('page.txt: a mistake in line 1'); process.exit(1) }
fs.mkdirSync(out + '/assets', { recursive: true })
fs.writeFileSync(out + '/index.html', text)
fs.writeFileSync(out + '/assets/page-' + text + '.js', text)
`

const makeCheckout = async (name: string) => {
  const root = join(folder, name)
  await mkdir(join(root, 'console'), { recursive: true })
  await mkdir(join(root, 'sdk/src'), { recursive: true })
  await mkdir(join(root, 'node_modules/vite/bin'), { recursive: true })
  await mkdir(join(root, 'scripts'))
  await writeFile(join(root, 'node_modules/vite/bin/vite.js'), fakeVite)
  await writeFile(join(root, 'console/vite.config.ts'), '')
  await writeFile(join(root, 'console/page.txt'), 'one')
  await writeFile(join(root, 'package-lock.json'), '{"packages":{}}')
  await writeFile(join(root, 'node_modules/.package-lock.json'), '{"packages":{}}')
  for (const script of ['bootstrap.mjs', 'build-console.mjs']) await cp(scripts + script, join(root, 'scripts', script))
  return {
    root,
    build: () => buildConsole(root, process.execPath),
    write: (text: string) => writeFile(join(root, 'console/page.txt'), text),
    read: (path: string) => readFile(join(root, 'console/dist', path), 'utf8'),
    builds: async () => (await readFile(join(root, 'builds'), 'utf8').catch(() => '')).length,
    start: async () => {
      const child = spawn(process.execPath, [join(root, 'scripts/bootstrap.mjs'), '--console'], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let [stdout, stderr] = ['', '']
      child.stdout.on('data', (text: Buffer) => (stdout += text.toString()))
      child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
      const [code] = (await once(child, 'close')) as [number]
      return { code, stdout, stderr }
    },
  }
}

test('the console is built once, and again when a source changes', async () => {
  const checkout = await makeCheckout('fresh')
  assert.equal(await checkout.build(), true)
  assert.equal(await checkout.read('index.html'), 'one')
  assert.equal(await checkout.build(), false)
  assert.equal(await checkout.builds(), 1)
  await checkout.write('two')
  assert.equal(await checkout.build(), true)
  assert.equal(await checkout.read('index.html'), 'two')
  const compressed = await readFile(join(checkout.root, 'console/dist/index.html.br'))
  assert.equal(brotliDecompressSync(compressed).toString(), 'two')
  // Open pages still need it.
  assert.equal(await checkout.read('assets/page-one.js'), 'one')
})

test('files of older builds are removed when no open page can need them', async () => {
  const checkout = await makeCheckout('old')
  await checkout.build()
  const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400
  await utimes(join(checkout.root, 'console/dist/assets/page-one.js'), twoDaysAgo, twoDaysAgo)
  await checkout.write('two')
  await checkout.build()
  await assert.rejects(checkout.read('assets/page-one.js'))
  assert.equal(await checkout.read('assets/page-two.js'), 'two')
})

test('a failed build is reported, keeps the last build and does not prevent the start', async () => {
  const checkout = await makeCheckout('broken')
  await checkout.build()
  await checkout.write('broken')
  await assert.rejects(checkout.build(), /a mistake in line 1/)
  assert.equal(await checkout.read('index.html'), 'one')
  assert.deepEqual(
    (await readdir(join(checkout.root, 'console/dist'))).filter((name) => name.startsWith('.new')),
    [],
  )
  const { code, stdout, stderr } = await checkout.start()
  assert.equal(code, 0)
  assert.equal(stdout, `${process.execPath}\n`)
  assert.match(stderr, /a mistake in line 1\n✗ The console could not be built: see above\. The API starts without it\./)
})

test('a start builds a stale console with a message, and prints nothing when it is fresh', async () => {
  const checkout = await makeCheckout('start')
  const first = await checkout.start()
  assert.match(first.stderr, /… building the console\n✓ console built \(\d+ s\)\n$/)
  const second = await checkout.start()
  assert.deepEqual([second.code, second.stderr], [0, ''])
  assert.equal(await checkout.builds(), 1)
})

test('concurrent builds do not affect each other', async () => {
  const checkout = await makeCheckout('together')
  await Promise.all([checkout.start(), checkout.start(), checkout.start()])
  assert.equal(await checkout.read('index.html'), 'one')
  assert.equal(await checkout.build(), false)
})

test('a build without the development packages names what is missing', async () => {
  const checkout = await makeCheckout('lean')
  await rm(join(checkout.root, 'node_modules/vite'), { recursive: true })
  await assert.rejects(checkout.build(), /Vite is not installed: the development packages were left out\./)
})
