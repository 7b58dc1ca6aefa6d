import { spawn } from 'node:child_process'
import type pg from 'pg'
import { runCommand } from '../../../src/cli/run-command.ts'
import { childEnv } from '../child-processes.ts'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface CommandOptions {
  env?: Record<string, string>
  /** Standard input. */
  input?: string
}

export const commandScript = new URL('../../../src/cli/cli.ts', import.meta.url).pathname

/** The connection of a test server as the DATABASE_URL of a command. */
export const commandUrlOf = ({ host = '', port = 5432, user = '', database = '' }: pg.ClientConfig): string =>
  host.startsWith('/')
    ? `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`
    : `postgres://${user}@${host}:${port}/${database}`

/**
 * Runs `atrium` in this process, which takes a tenth of the CPU time of a new one. The environment is only what is given.
 * Passwords are read from `input`.
 */
export const runHere = async (words: string[], { env = {}, input = '' }: CommandOptions = {}): Promise<Ended> => {
  let stdout = ''
  let stderr = ''
  const code = await runCommand(words, {
    env,
    print: (text) => void (stdout += `${text}\n`),
    printError: (text) => void (stderr += `${text}\n`),
    readPassword: () => Promise.resolve(input),
  })
  return { code, stdout, stderr }
}

/** Runs `atrium` in a process of its own, for what a process does: exit codes, standard input, a database that it starts. */
export const runAlone = async (words: string[], { env = {}, input = '' }: CommandOptions = {}): Promise<Ended> => {
  const child = spawn(process.execPath, [commandScript, ...words], { env: { ...childEnv, ...env } })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  child.stdin.end(input)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve)
    child.on('error', reject)
  })
  return { code, stdout, stderr }
}
