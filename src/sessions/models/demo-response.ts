import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt, LanguageModelV4ProviderTool } from '@ai-sdk/provider'
import { readAttachedFiles } from './attached-files.ts'
import { wireName } from './wire-name.ts'

export interface DemoCall {
  toolName: string
  /** JSON as the person wrote it. It may be invalid, as with other models. */
  input: string
}

/** The response of the demo model in one call. */
export interface DemoResponse {
  text: string
  calls: DemoCall[]
  /** The duration of the response in milliseconds. */
  slowMs: number
  fail: '429' | '500' | 'cut' | undefined
  /** Input, output, cache read, cache write. */
  tokens: [number, number, number, number] | undefined
}

interface Result {
  toolName: string
  input: Record<string, unknown>
  value: unknown
  isError: boolean
}

/** The state of the conversation since the person's last message. */
interface Situation {
  text: string
  fileIds: string[]
  /** Steps with tool calls since then. */
  rounds: number
  results: Result[]
  lastResults: Result[]
  tools: string[]
}

const situationOf = (prompt: LanguageModelV4Prompt, tools: string[]): Situation => {
  const start = prompt.findLastIndex((message) => message.role === 'user')
  const asked = prompt[start]
  const text =
    asked?.role === 'user' ? asked.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n') : ''
  const inputs = new Map<string, Record<string, unknown>>()
  const rounds: Result[][] = []
  for (const message of prompt.slice(start + 1)) {
    if (message.role === 'assistant') {
      for (const part of message.content)
        if (part.type === 'tool-call') inputs.set(part.toolCallId, (part.input ?? {}) as Record<string, unknown>)
    } else if (message.role === 'tool') {
      rounds.push(
        message.content.flatMap((part) => {
          if (part.type !== 'tool-result') return []
          const { output, toolName, toolCallId } = part
          const value = 'value' in output ? (output.value as unknown) : null
          return [{ toolName, input: inputs.get(toolCallId) ?? {}, value, isError: output.type.startsWith('error') }]
        }),
      )
    }
  }
  const { words, fileIds } = readAttachedFiles(text)
  return {
    text: words,
    fileIds,
    rounds: rounds.length,
    results: rounds.flat(),
    lastResults: rounds.at(-1) ?? [],
    tools,
  }
}

const callOf = (toolName: string, input: object): DemoCall => ({ toolName, input: JSON.stringify(input) })

const command = /^\/(\w+)(?:[ \t]+(.*))?$/

interface Commands {
  /** The tool calls of each step: commands on adjacent lines run in one step. */
  rounds: DemoCall[][]
  slowMs: number
  fail: DemoResponse['fail']
  tokens: DemoResponse['tokens']
  /** The text without the commands. */
  words: string
}

const parseCommands = (text: string, allowsTestCommands: boolean): Commands => {
  const found: Commands = { rounds: [], slowMs: 0, fail: undefined, tokens: undefined, words: '' }
  const words: string[] = []
  let followsTool = false
  for (const line of text.split('\n')) {
    const [, verb, rest = ''] = command.exec(line.trim()) ?? []
    const [target, argument = ''] = rest.trim().split(/(?<=^\S+)\s+/)
    if (verb === 'tool' && target) {
      const call = { toolName: target, input: argument || '{}' }
      if (followsTool) found.rounds.at(-1)?.push(call)
      else found.rounds.push([call])
    } else if (verb === 'peer' && target) {
      found.rounds.push([callOf('message_peer', { to: target, text: argument })])
    } else if (allowsTestCommands && verb === 'slow') found.slowMs = Math.min(600_000, Number(rest) || 0)
    else if (allowsTestCommands && verb === 'fail')
      found.fail = (['429', '500', 'cut'] as const).find((one) => one === rest.trim())
    else if (allowsTestCommands && verb === 'tokens') {
      const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0] = rest.trim().split(/\s+/).map(Number)
      found.tokens = [input, output, cacheRead, cacheWrite]
    } else words.push(line)
    followsTool = verb === 'tool'
  }
  found.words = words.join('\n').trim()
  return found
}

const namedFile = /(?:^|[\s"'“`(])([\p{L}\p{N}][\p{L}\p{N}_.-]*\.[a-z][a-z0-9]{1,4})(?=$|[\s"'”`),.;:?!])/iu
const namedId = /\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b/i
const maxFilesRead = 3

interface FoundFile {
  id?: string
  name?: string
}

const filesFound = ({ value }: Result): FoundFile[] => {
  const files = (value as { files?: unknown } | null)?.files
  return Array.isArray(files) ? (files as FoundFile[]) : []
}

/** Calls that read the attached files or, without attachments, the file that the text names. */
const lookUp = (situation: Situation, words: string): DemoCall[] => {
  const { fileIds, tools, rounds, lastResults } = situation
  const canRead = tools.includes('files.read')
  if (rounds === 0 && canRead) {
    const named = namedId.exec(words)?.[1]
    const ids = fileIds.length > 0 ? fileIds : named === undefined ? [] : [named]
    if (ids.length > 0) return ids.slice(0, maxFilesRead).map((fileId) => callOf('files.read', { fileId }))
  }
  const name = namedFile.exec(words)?.[1]
  if (rounds === 0 && name !== undefined && tools.includes('files.search'))
    return [callOf('files.search', { query: name })]
  if (rounds !== 1 || !canRead || lastResults[0]?.toolName !== 'files.search') return []
  const [first] = filesFound(lastResults[0])
  return first?.id === undefined ? [] : [callOf('files.read', { fileId: first.id })]
}

const maxQuote = 1_200

const quote = (text: string): string => {
  const characters = [...text.trim()]
  return characters.length > maxQuote ? `${characters.slice(0, maxQuote).join('')} …` : characters.join('')
}

const describeResult = ({ toolName, value, isError, input }: Result): string => {
  const file = value as { name?: string; text?: string } | null
  if (isError) return `${toolName} failed: ${(value as { error?: string } | null)?.error ?? JSON.stringify(value)}`
  if (toolName === 'files.read' && typeof file?.text === 'string') {
    return file.text.trim() === '' ? `${file.name} has no text.` : `${file.name} says:\n\n${quote(file.text)}`
  }
  if (toolName === 'files.search') {
    const names = filesFound({ toolName, value, isError, input }).map((one) => one.name)
    if (names.length === 0) return `I found no file for ${JSON.stringify(input['query'])}.`
    return `I found ${names.length === 1 ? 'one file' : `${names.length} files`}: ${names.join(', ')}.`
  }
  const peer = value as { to?: string; reply?: string | null; error?: string; note?: string } | null
  if (toolName === 'message_peer' && typeof peer?.to === 'string') {
    return `${peer.to} answered: ${quote(peer.reply ?? peer.error ?? peer.note ?? 'nothing')}`
  }
  return `${toolName} answered: ${quote(JSON.stringify(value))}`
}

const introduction = (words: string, tools: string[]): string => {
  const wrote = words === '' ? '' : `You wrote: “${quote(words)}”\n\n`
  const able =
    tools.length === 0
      ? 'This agent has no tools.'
      : `I can use ${tools.map((name) => `\`${name}\``).join(', ')}: attach a file, or name one ("What does report.pdf say?"), and I read it for you.`
  return `${wrote}I am the demo model that comes with Atrium. I run without a network and answer the same question in the same way. ${able} To use another model, ask an administrator to configure a provider.`
}

/** The call with the tool's own name, even if the person used its wire name. */
const named = (call: DemoCall, tools: string[]): DemoCall => ({
  ...call,
  toolName: tools.find((name) => name === call.toolName || wireName(name) === call.toolName) ?? call.toolName,
})

/** Plans the next response of the demo model. The same conversation always gets the same response. */
export const planResponse = (
  prompt: LanguageModelV4Prompt,
  tools: (LanguageModelV4FunctionTool | LanguageModelV4ProviderTool)[],
  allowsTestCommands: boolean,
): DemoResponse => {
  const situation = situationOf(
    prompt,
    tools.map((tool) => tool.name),
  )
  const { slowMs, fail, tokens, ...commands } = parseCommands(situation.text, allowsTestCommands)
  const effects = { slowMs, fail, tokens }
  const commanded = commands.rounds[situation.rounds]
  const calls =
    commanded?.map((call) => named(call, situation.tools)) ??
    (commands.rounds.length > 0 ? [] : lookUp(situation, commands.words))
  if (calls.length > 0) return { text: '', calls, ...effects }
  // A search is not mentioned when the file that it found was read.
  const relevant = situation.results.filter(
    (result, place, all) =>
      commands.rounds.length > 0 || result.toolName !== 'files.search' || place === all.length - 1 || result.isError,
  )
  const text =
    relevant.length > 0 ? relevant.map(describeResult).join('\n\n') : introduction(commands.words, situation.tools)
  return { text, calls: [], ...effects }
}
