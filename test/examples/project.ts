// The examples as users run them: a copy of their folder, with the packages of their package.json.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeDiskFolder } from './disk-folder.ts'
import { until } from '../support/until.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const exampleFolder = (name: string): string => join(root, 'examples', name)

/** A copy of an example in a temporary folder, without packages. */
export const copyExample = async (name: string): Promise<string> => {
  const folder = join(await makeDiskFolder('example'), name)
  await cp(exampleFolder(name), folder, {
    recursive: true,
    filter: (source) => !/\/(?:node_modules|\.next|[^/]*\.db|__pycache__)$/.test(source),
  })
  return folder
}

const versionOf = async (manifest: string): Promise<string> =>
  (JSON.parse(await readFile(manifest, 'utf8')) as { version: string }).version

/**
 * Links the packages of an example from those of the repository, which needs no network. Throws when the repository has
 * another version of one. `sdk`: the folder of an installed SDK.
 */
export const linkPackages = async (folder: string, sdk?: string): Promise<void> => {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    const source = name === '@atrium/client' && sdk !== undefined ? sdk : join(root, 'node_modules', name)
    if (!version.startsWith('file:')) {
      const found = await versionOf(join(source, 'package.json'))
      if (found !== version) throw new Error(`the example needs ${name} ${version}, the repository has ${found}`)
    }
    const target = join(folder, 'node_modules', name)
    await mkdir(dirname(target), { recursive: true })
    await symlink(source, target)
  }
}

export interface Started {
  child: ChildProcess
  /** Everything printed so far, both streams. */
  output(): string
  /** Resolves with the first group of the pattern once the output contains it. Rejects when the program ends before. */
  printed(pattern: RegExp): Promise<string>
  stop(): Promise<void>
}

/** Starts a program of an example, which is stopped after the tests of the file. */
export const start = (
  folder: string,
  [program, ...args]: [string, ...string[]],
  env: Record<string, string>,
): Started => {
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', (error) => {
      text += error.message
      resolve()
    })
  })
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  const stop = async (): Promise<void> => {
    if (!hasEnded()) child.kill('SIGKILL')
    await ended
  }
  after(stop)
  return {
    child,
    output: () => text,
    stop,
    printed: async (pattern) => {
      const found = await until(
        () => pattern.exec(text) ?? hasEnded(),
        (value) => value !== false,
      )
      if (found === true) throw new Error(`the program ended: ${text}`)
      return (found as RegExpExecArray)[1] ?? ''
    },
  }
}
