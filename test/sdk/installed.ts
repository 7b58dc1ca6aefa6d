// The SDK as users install it: packed, and installed into an empty project without a network.
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

export interface Project {
  folder: string
  /** Paths in the tarball, sorted. */
  packed: string[]
  write(name: string, text: string): Promise<void>
  /** Runs a program in the folder and resolves with its output. Rejects with both streams when it fails. */
  run(program: string, args: string[], env?: Record<string, string>): Promise<string>
  /** Compiles files with the strictest options and these, and rejects with the errors of the compiler. */
  compile(files: string[], options?: Record<string, unknown>): Promise<string>
}

const strict = {
  target: 'es2023',
  module: 'nodenext',
  moduleResolution: 'nodenext',
  lib: ['es2023', 'dom'],
  types: [],
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
}

/** The types of Node.js, which projects install besides TypeScript. */
const nodeTypes = ['@types/node', 'undici-types']

/** Packs a copy of the SDK, because tests that run at the same time would write the same `dist`. */
const pack = async (folder: string): Promise<{ tarball: string; packed: string[] }> => {
  const copy = join(folder, 'repository')
  await cp(join(root, 'sdk'), join(copy, 'sdk'), { recursive: true })
  await cp(join(root, 'tsconfig.json'), join(copy, 'tsconfig.json'))
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  const { stdout } = await npm(['pack', '--json', '--pack-destination', folder], join(copy, 'sdk'), folder)
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'))
  // npm prints a list, or from version 12 on an object by package.
  const [{ files }] = Object.values(JSON.parse(stdout) as object) as [{ files: { path: string }[] }]
  return { tarball: join(folder, name), packed: files.map(({ path }) => path).toSorted() }
}

const npm = (args: string[], cwd: string, folder: string): Promise<{ stdout: string }> =>
  run('npm', [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, npm_config_cache: join(folder, 'cache') },
  })

/** Installs the packed SDK into an empty project, which is deleted after the tests of the file. */
export const installSdk = async (): Promise<Project> => {
  const parent = await mkdtemp(join(tmpdir(), 'atrium-sdk-'))
  after(() => rm(parent, { recursive: true, force: true }))
  const { tarball, packed } = await pack(parent)
  const folder = join(parent, 'project')
  await mkdir(folder)
  const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text)
  await write('package.json', JSON.stringify({ name: 'project', private: true, type: 'module' }))
  await npm(['install', tarball], folder, parent)
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true })
  for (const name of nodeTypes) await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  const runHere: Project['run'] = async (program, args, env = {}) => {
    const options = { cwd: folder, timeout: 120_000, env: { PATH: process.env['PATH'] ?? '', ...env } }
    const { stdout } = await run(program, args, options).catch((error: { stdout: string; stderr: string }) => {
      throw new Error(`${program} ${args.join(' ')} failed:\n${error.stdout}${error.stderr}`)
    })
    return stdout
  }
  return {
    folder,
    packed,
    write,
    run: runHere,
    compile: async (files, options = {}) => {
      await write('tsconfig.json', JSON.stringify({ compilerOptions: { ...strict, ...options }, files }))
      return runHere(join(root, 'node_modules/.bin/tsc'), ['-p', '.'])
    },
  }
}

/** The path of each Node.js on this machine by major version: those in PATH and in ATRIUM_TEST_NODES, separated by colons. */
export const installedNodes = async (): Promise<Map<number, string>> => {
  const listed = (process.env['ATRIUM_TEST_NODES'] ?? '').split(':').filter((path) => path !== '')
  const inPath = (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, 'node'))
  const nodes = new Map<number, string>()
  for (const path of [process.execPath, ...listed, ...inPath]) {
    const found = await run(path, ['--version']).catch(() => undefined)
    const major = Number.parseInt(found?.stdout.slice(1) ?? '', 10)
    if (major > 0 && !nodes.has(major)) nodes.set(major, path)
  }
  return nodes
}
