import type { ParseArgsOptionsConfig } from 'node:util'
import { parseArgs } from 'node:util'
import type { Config } from '../config/config.ts'
import type { Database } from '../platform/database/database.ts'

/** Invalid arguments. `words` names the command whose help explains them. */
export class UsageError extends Error {
  readonly words: string

  constructor(message: string, words = '') {
    super(message)
    this.name = 'UsageError'
    this.words = words
  }
}

export interface CommandOption {
  /** The placeholder of the value in the help, such as `NAME`. Empty for a switch, whose value is `true` when given. */
  value: string
  description: string
  required?: true
}

/** The arguments of a command. `operand` is empty for a command without one. */
export interface Arguments {
  operand: string
  options: Record<string, string | undefined>
}

/** `json` is one object with the records by name; `lines` is the same as text. */
export interface Output {
  json: Record<string, unknown>
  lines: string[]
  /** False when a check failed: exit code 1. */
  ok?: boolean
}

export interface CommandContext {
  config: Config
  db: Database
  /** The URL of the server, whether it is running or not. */
  serverUrl: string
  readPassword: () => Promise<string>
}

interface CommandBase {
  /** `org create` */
  words: string
  summary: string
  /** Further text for `--help`. */
  details?: string
  /** `ID` */
  operand?: string
  options: Record<string, CommandOption>
}

/** A command that uses the configured database, with or without a running server. */
export interface DatabaseCommand extends CommandBase {
  needs: 'database'
  run(context: CommandContext, args: Arguments): Promise<Output>
}

/** A command that uses only the environment. */
export interface PlainCommand extends CommandBase {
  needs: 'environment'
  run(env: NodeJS.ProcessEnv, args: Arguments): Promise<Output>
}

/** A command that keeps running and prints its own output. */
export interface ServingCommand extends CommandBase {
  needs: 'process'
  run(env: NodeJS.ProcessEnv, args: Arguments): Promise<void>
}

export type Command = DatabaseCommand | PlainCommand | ServingCommand

/** Turns `--cents -500` into `--cents=-500`: parseArgs treats a value with a leading dash as another option. */
const joinNegatives = (words: string[]): string[] => {
  const joined: string[] = []
  for (const word of words) {
    const before = joined.at(-1)
    if (/^-\d+$/.test(word) && before !== undefined && /^--[a-z-]+$/.test(before))
      joined[joined.length - 1] = `${before}=${word}`
    else joined.push(word)
  }
  return joined
}

/** Parses the arguments after the words of a command. Throws a UsageError. */
export const readArguments = (command: Command, rest: string[]): Arguments => {
  const config: ParseArgsOptionsConfig = { json: { type: 'boolean' } }
  for (const [name, { value }] of Object.entries(command.options)) {
    config[name] = { type: value === '' ? 'boolean' : 'string' }
  }
  let parsed: { values: Record<string, unknown>; positionals: string[] }
  try {
    parsed = parseArgs({ args: joinNegatives(rest), options: config, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message, command.words)
  }
  const { values, positionals } = parsed
  const expected = command.operand === undefined ? 0 : 1
  if (positionals.length > expected)
    throw new UsageError(`unexpected argument: ${positionals[expected]}`, command.words)
  const [operand = ''] = positionals
  if (expected === 1 && operand === '') throw new UsageError(`${command.operand} is required`, command.words)
  for (const [name, option] of Object.entries(command.options)) {
    if (option.required && !values[name]) throw new UsageError(`--${name} ${option.value} is required`, command.words)
  }
  const texts = Object.entries(values).map(([name, value]) => [name, value === true ? 'true' : value])
  return { operand, options: Object.fromEntries(texts) as Record<string, string | undefined> }
}

const named = (name: string, value: string): string => (value === '' ? `--${name}` : `--${name} ${value}`)

const usageOf = ({ words, operand, options }: Command): string => {
  const parts = Object.entries(options).map(([name, { value, required }]) =>
    required ? named(name, value) : `[${named(name, value)}]`,
  )
  return ['atrium', words, ...(operand === undefined ? [] : [operand]), ...parts].join(' ')
}

const table = (rows: [string, string][]): string[] => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

/** Lines of `label  text` with aligned texts. */
export const labelled = (rows: [string, string][]): string[] => {
  const width = Math.max(...rows.map(([label]) => label.length))
  return rows.map(([label, text]) => `${label.padEnd(width)}  ${text}`)
}

export const helpOf = (command: Command): string[] => {
  const options: [string, string][] = Object.entries(command.options).map(([name, { value, description }]) => [
    named(name, value),
    description,
  ])
  if (command.needs !== 'process') options.push(['--json', 'print one JSON object to standard output'])
  return [
    `${command.summary}.`,
    '',
    `  ${usageOf(command)}`,
    '',
    ...(options.length === 0 ? [] : [...table(options), '']),
    ...(command.details === undefined ? [] : [command.details, '']),
  ]
}

export const overview = (commands: Command[], group = ''): string[] => {
  const shown = commands.filter(({ words }) => group === '' || words.startsWith(`${group} `))
  return [
    'Atrium: a workspace platform behind one HTTP API.',
    '',
    ...table(shown.map((command) => [usageOf({ ...command, options: {} }), command.summary])),
    '',
    'Help for a command: atrium <command> --help. Version: atrium --version.',
    'Commands read the same environment as the server (DATA_DIR or DATABASE_URL) and work while it is running.',
  ]
}
