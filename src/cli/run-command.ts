import { readFile } from 'node:fs/promises'
import { auditCommands } from './audit.ts'
import { billingCommands } from './billing.ts'
import { UsageError, helpOf, overview, readArguments } from './command.ts'
import type { Arguments, Command, Output } from './command.ts'
import { identityCommands } from './identity.ts'
import { orgCommands } from './org-settings.ts'
import { migrateCommand } from './migrate.ts'
import { reencryptCommand } from './reencrypt.ts'
import { storageCommands } from './storage.ts'
import { setupWebhookCommand } from './webhook-command.ts'
import { serverUrlOf, withDatabase } from './database.ts'
import { doctorCommand } from './doctor.ts'
import { distributeCommand } from './distribute.ts'
import { quotaCommands } from './quotas.ts'
import { ConfigError } from '../config/config.ts'
import { readConfig } from '../read-config.ts'
import { databaseUnavailable, isDatabaseUnavailable } from '../platform/database/errors.ts'
import { ApiError } from '../platform/http/errors.ts'
import { StartError } from '../platform/process/start-error.ts'

const serve: Command = {
  words: 'serve',
  summary: 'Start the server',
  options: { role: { value: 'ROLE', description: 'api, worker or all; default: all' } },
  details: 'Several processes can share one database and one object store.',
  needs: 'process',
  run: async (env, args) => {
    const role = (['api', 'worker', 'all'] as const).find((one) => one === (args.options['role'] ?? 'all'))
    if (role === undefined) throw new UsageError('--role must be api, worker or all', 'serve')
    const main = await import('../main.ts')
    try {
      await main.serve(role, env)
    } catch (error) {
      main.explainFailure(error)
      process.exit(1)
    }
  },
}

const commands: Command[] = [
  serve,
  ...identityCommands,
  ...orgCommands,
  ...auditCommands,
  ...billingCommands,
  ...quotaCommands,
  setupWebhookCommand,
  migrateCommand,
  reencryptCommand,
  ...storageCommands,
  distributeCommand,
  doctorCommand,
]

/** Where a command reads from and prints to. */
export interface Terminal {
  env: NodeJS.ProcessEnv
  /** Prints a text and a line break to standard output. */
  print: (text: string) => void
  /** The same to standard error. */
  printError: (text: string) => void
  readPassword: () => Promise<string>
}

/** The code and message of an error, with the codes of the API where one applies. */
const failureOf = (error: unknown): { code: string; message: string } => {
  if (error instanceof ApiError) return { code: error.code, message: error.message }
  if (error instanceof UsageError) return { code: 'USAGE', message: error.message }
  if (error instanceof ConfigError) return { code: 'CONFIGURATION', message: error.mistakes.join('; ') }
  if (error instanceof StartError) {
    const code = isDatabaseUnavailable(error.cause) ? 'SERVICE_UNAVAILABLE' : 'START'
    return { code, message: error.hint === undefined ? error.message : `${error.message} ${error.hint}` }
  }
  if (isDatabaseUnavailable(error)) return failureOf(databaseUnavailable(error))
  return { code: 'INTERNAL_ERROR', message: error instanceof Error ? error.message : String(error) }
}

const explain = (error: unknown, { printError }: Terminal): void => {
  if (error instanceof ConfigError) {
    printError('Invalid environment:')
    for (const mistake of error.mistakes) printError(`  ✗ ${mistake}`)
    return
  }
  printError(`✗ ${failureOf(error).message}`)
  if (error instanceof UsageError) printError(`  See: atrium ${error.words === '' ? '' : `${error.words} `}--help`)
}

const perform = async (command: Command, args: Arguments, terminal: Terminal): Promise<Output | undefined> => {
  const { env, printError, readPassword } = terminal
  if (command.needs === 'process') {
    await command.run(env, args)
    return undefined
  }
  if (command.needs === 'environment') return command.run(env, args)
  const config = readConfig(env)
  return withDatabase(config, printError, async (db) =>
    command.run({ config, db, serverUrl: await serverUrlOf(config), readPassword }, args),
  )
}

const versionOf = async (): Promise<string> => {
  const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return manifest.version
}

const commandMissing = (group: string | undefined): string => {
  const names = commands.map((one) => one.words).filter((one) => group === undefined || one.startsWith(`${group} `))
  return `command required: ${names.join(', ')}`
}

/** Returns whether the command succeeded. Throws what prevented it. */
const run = async (words: string[], terminal: Terminal): Promise<boolean> => {
  const isJson = words.includes('--json')
  const print = (lines: string[]): true => {
    terminal.print(lines.join('\n'))
    return true
  }
  if (words.includes('--version')) {
    const version = await versionOf()
    return print([isJson ? JSON.stringify({ version }) : version])
  }
  const help = (lines: string[]): true => print(isJson ? [JSON.stringify({ help: lines.join('\n') })] : lines)
  const wantsHelp = words.includes('--help') || words.includes('-h')
  const given = words.filter((word) => !['--help', '-h', '--json'].includes(word))
  const command = commands.find(({ words: own }) => own.split(' ').every((word, at) => given[at] === word))
  if (!command) {
    const group = commands.some((one) => one.words.startsWith(`${given[0] ?? ''} `)) ? given[0] : undefined
    const isGroupAlone = given.length === 0 || (group !== undefined && given.length === 1)
    // Help text is not a useful response to a program, so with --json a missing command is an error.
    if (isGroupAlone && isJson && !wantsHelp) throw new UsageError(commandMissing(group))
    if (isGroupAlone) return help(overview(commands, group))
    throw new UsageError(`unknown command: ${given.filter((word) => !word.startsWith('-')).join(' ')}`)
  }
  if (wantsHelp) return help(helpOf(command))
  const args = readArguments(command, given.slice(command.words.split(' ').length))
  const output = await perform(command, args, terminal)
  if (!output) return true
  print(isJson ? [JSON.stringify(output.json)] : output.lines)
  return output.ok !== false
}

/** Runs a command and prints its result. Returns the exit code. */
export const runCommand = async (words: string[], terminal: Terminal): Promise<0 | 1> => {
  try {
    return (await run(words, terminal)) ? 0 : 1
  } catch (error) {
    if (words.includes('--json')) terminal.print(JSON.stringify({ error: failureOf(error) }))
    else explain(error, terminal)
    return 1
  }
}
