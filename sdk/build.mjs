// Compiles src into dist. `npm pack` runs it, and so does npm when the package is installed from this folder.
// With --if-possible a failure is only reported: an installation of the server without development packages, or on an
// old version of Node.js, has no TypeScript and does not need dist.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = dirname(fileURLToPath(import.meta.url))

const build = () => {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: folder, stdio: 'inherit' })
}

try {
  build()
} catch (error) {
  if (!process.argv.includes('--if-possible')) throw error
  process.stderr.write(`The client was not compiled: ${error.message.split('\n')[0]}\n`)
}
