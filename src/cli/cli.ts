import { readFile } from 'node:fs/promises'
import { auditCommands } from './audit.ts'
import { billingCommands } from './billing.ts'
import { UsageError, helpOf, overview, readArguments } from './command.ts'
import type { Arguments, Command, Output } from './command.ts'
import { identityCommands } from './identity.ts'
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

const print = (lines: string[]): void => console.log(lines.join('\n'))
const printError = (line: string): void => console.error(line)

/** Reads a line from the terminal without showing it. */
const readHidden = async (): Promise<string> => {
  const { stdin } = process
  printError('New password (not shown):')
  stdin.setRawMode(true)
  try {
    let typed = ''
    for await (const chunk of stdin.setEncoding('utf8')) {
      for (const key of String(chunk)) {
        if (key === '\r' || key === '\n') return typed
        if (key === '\u0003') throw new UsageError('interrupted')
        typed = key === '\u007f' ? [...typed].slice(0, -1).join('') : typed + key
      }
    }
    return typed
  } finally {
    stdin.setRawMode(false)
  }
}

/** Reads the password from standard input, without the final line break. */
const readPassword = async (): Promise<string> => {
  if (process.stdin.isTTY) return readHidden()
  let input = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) input += String(chunk)
  return input.replace(/\r?\n$/, '')
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

const explain = (error: unknown): void => {
  if (error instanceof ConfigError) {
    printError('Invalid environment:')
    for (const mistake of error.mistakes) printError(`  ✗ ${mistake}`)
    return
  }
  printError(`✗ ${failureOf(error).message}`)
  if (error instanceof UsageError) printError(`  See: atrium ${error.words === '' ? '' : `${error.words} `}--help`)
}

const perform = async (command: Command, args: Arguments): Promise<Output | undefined> => {
  if (command.needs === 'process') {
    await command.run(process.env, args)
    return undefined
  }
  if (command.needs === 'environment') return command.run(process.env, args)
  const config = readConfig(process.env)
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

const run = async (words: string[]): Promise<void> => {
  const isJson = words.includes('--json')
  if (words.includes('--version')) {
    const version = await versionOf()
    return print([isJson ? JSON.stringify({ version }) : version])
  }
  const help = (lines: string[]): void => print(isJson ? [JSON.stringify({ help: lines.join('\n') })] : lines)
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
  const output = await perform(command, args)
  if (!output) return undefined
  if (isJson) print([JSON.stringify(output.json)])
  else print(output.lines)
  if (output.ok === false) process.exitCode = 1
  return undefined
}

const words = process.argv.slice(2)
try {
  await run(words)
} catch (error) {
  if (words.includes('--json')) print([JSON.stringify({ error: failureOf(error) })])
  else explain(error)
  process.exitCode = 1
}
