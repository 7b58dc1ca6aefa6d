// Builds the console into console/dist when its sources have changed. Called by `npm start` and by the tests.
// Plain JavaScript without dependencies, like bootstrap.mjs, because it runs on the installed version of Node.js.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const sources = ['console', 'sdk/src', 'sdk/package.json', 'package-lock.json']
const notSources = new Set(['dist', 'node_modules'])

const filesIn = (root, path) => {
  const full = join(root, path)
  if (!existsSync(full)) return []
  if (!statSync(full).isDirectory()) return [path]
  return readdirSync(full)
    .filter((name) => !notSources.has(name))
    .toSorted()
    .flatMap((name) => filesIn(root, `${path}/${name}`))
}

const hashOfSources = (root) => {
  const hash = createHash('sha256')
  for (const path of sources.flatMap((source) => filesIn(root, source))) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
  }
  return hash.digest('hex')
}

const stampOf = (root) => join(root, 'console/dist/.built-from')

const readStamp = (root) => {
  try {
    return readFileSync(stampOf(root), 'utf8')
  } catch {
    return undefined
  }
}

/** Whether console/dist was built from the current sources. */
export const isConsoleFresh = (root) => readStamp(root) === hashOfSources(root)

const compressible = /\.(?:js|css|html|svg|json)$/

const compress = (folder) => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) compress(path)
    else if (compressible.test(entry.name)) {
      const content = readFileSync(path)
      const size = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
      writeFileSync(`${path}.br`, brotliCompressSync(content, { params: size }))
      writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
    }
  }
}

const keptMs = 24 * 3_600_000

/** Removes files of builds older than a day, which open pages no longer need. */
const removeOldAssets = (folder) => {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (Date.now() - statSync(path).mtimeMs > keptMs) rmSync(path, { force: true })
  }
}

const runVite = (root, node, outDir) =>
  new Promise((resolve, reject) => {
    const args = [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--outDir', outDir, '--logLevel', 'warn']
    const env = { ...process.env, NODE_ENV: 'production' }
    const child = spawn(node, args, { cwd: join(root, 'console'), env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(output.trim()))))
  })

/**
 * Builds the console if its sources have changed, and returns whether it did. Rejects with the output of the compiler.
 * Processes may build at the same time, each in its own folder; the last one to finish replaces the others.
 */
export const buildConsole = async (root, node) => {
  const wanted = hashOfSources(root)
  if (readStamp(root) === wanted) return false
  if (!existsSync(join(root, 'node_modules/vite'))) {
    throw new Error('Vite is not installed: the development packages were left out.')
  }
  const fresh = join(root, `console/dist/.new-${process.pid}`)
  mkdirSync(fresh, { recursive: true })
  try {
    await runVite(root, node, fresh)
    compress(fresh)
    for (const name of readdirSync(fresh)) {
      const target = join(root, 'console/dist', name)
      // Chunks of older builds are kept for open pages.
      if (name === 'assets' && existsSync(target)) {
        for (const asset of readdirSync(join(fresh, name))) renameSync(join(fresh, name, asset), join(target, asset))
      } else renameSync(join(fresh, name), target)
    }
    removeOldAssets(join(root, 'console/dist/assets'))
    writeFileSync(stampOf(root), wanted)
    return true
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildConsole(dirname(dirname(process.argv[1])), process.execPath)
}
