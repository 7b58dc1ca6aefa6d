import { isOwnContent, readFileBytes, readFileText, readPicture } from '../../../files/files.ts'
import type { Picture, Previewer } from '../../../files/files.ts'
import type { Actor } from '../../../identity/actor.ts'
import type { Database } from '../../../platform/database/database.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { ObjectStore } from '../../../platform/object-store/object-store.ts'
import type { Log } from '../../../platform/process/log.ts'
import { withNotes } from '../../models/attached-files.ts'
import type { PromptFile, PromptMedia, PromptMessage } from '../../models/model-client.ts'
import { pdfTokens, pictureTokens } from '../../models/picture-tokens.ts'
import { truncateToJsonBytes } from '../../tools/truncate-text.ts'
import type { CallTarget } from '../steps/fallbacks.ts'
import { pdfType } from './media-files.ts'
import { estimateTokens, filesOf, tokensOf } from './prompt.ts'
import type { Exchange } from './prompt.ts'

/** Of one model call. The oldest files are left out first. */
export const mediaLimits = {
  files: 20,
  /** Every running turn has them in memory. */
  bytes: 8_388_608,
  /** Anthropic accepts 100 pages with a context window of 200,000 tokens. */
  pdfPages: 100,
  pdfBytes: 4_194_304,
  /** The text of one PDF for a model that takes no PDF files. */
  textBytes: 40_000,
} as const

export interface MediaDeps {
  db: Database
  log: Log
  objects: ObjectStore
  previewer: Previewer
}

/** What the model gets: the file, or a text instead of it. `note` of a file: the text if there is no room for the file. */
type Shown = { media: PromptMedia; tokens: number; note?: string } | { media?: undefined; note: string }

export interface MediaScope {
  actor: Actor
  model: CallTarget['model']
  signal: AbortSignal
  /** The tokens that all files of the call may have. */
  maxTokens: number
  noteUntrusted: () => void
  /** The pictures that tools of this turn returned, by id. */
  pictures: ReadonlyMap<string, Picture>
}

const quoted = (name: string): string => JSON.stringify(name)

const fromPicture = (model: MediaScope['model'], file: PromptFile, picture: Picture): Shown => {
  const { bytes, mimeType, width, height } = picture
  return { media: { bytes, mimeType, name: file.name }, tokens: pictureTokens(model.id, { width, height }) }
}

const blind = (file: PromptFile): Shown => ({
  note: `This model cannot see pictures, so ${quoted(file.name)} is not shown.`,
})

const keptPicture = ({ model, pictures }: MediaScope, file: PromptFile): Shown => {
  if (!model.input.images) return blind(file)
  const picture = pictures.get(file.fileId)
  return picture ? fromPicture(model, file, picture) : { note: 'A picture of this result is no longer available.' }
}

const pictureFor = async (deps: MediaDeps, { actor, model, signal }: MediaScope, file: PromptFile): Promise<Shown> => {
  if (!model.input.images) return blind(file)
  return fromPicture(model, file, await readPicture(deps, actor, file.fileId, signal))
}

const asText = ({ name }: PromptFile, text: string, truncated: boolean): string => {
  if (text.trim() === '') return `The PDF file ${quoted(name)} has no text.`
  const shown = truncateToJsonBytes(text, mediaLimits.textBytes)
  const rest = truncated || shown.length < text.length ? '\n(The text goes on. A tool may read the rest.)' : ''
  return `Text of the PDF file ${quoted(name)}:\n${shown}${rest}`
}

const pdfFor = async (deps: MediaDeps, { actor, model, signal }: MediaScope, file: PromptFile): Promise<Shown> => {
  const { sizeBytes, text, truncated } = await readFileText(deps, actor, file.fileId, signal)
  // The extracted text has a heading for each page.
  const pages = text.match(/^(?:#+ )?Page \d+$/gm)?.length ?? 0
  const fits = sizeBytes <= mediaLimits.pdfBytes && pages > 0 && pages <= mediaLimits.pdfPages && !truncated
  if (!model.input.pdf || !fits) return { note: asText(file, text, truncated) }
  const bytes = await readFileBytes(deps, actor, file.fileId, mediaLimits.pdfBytes)
  const tokens = pdfTokens(model.id, pages, estimateTokens(text))
  return { media: { bytes, mimeType: pdfType, name: file.name }, tokens, note: asText(file, text, truncated) }
}

const shownFor = async (deps: MediaDeps, scope: MediaScope, file: PromptFile): Promise<Shown> => {
  if (file.isKept === true) return keptPicture(scope, file)
  const { actor, signal } = scope
  if (!actor.permissions.has('files:read'))
    return { note: `${quoted(file.name)} is not shown: files must not be read.` }
  try {
    const shown = await (file.mimeType === pdfType ? pdfFor : pictureFor)(deps, scope, file)
    if (!(await isOwnContent(deps.db, actor, file.fileId))) scope.noteUntrusted()
    return shown
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ApiError)) {
      // The conversation must go on when the store has lost a file.
      deps.log.warn({ err: error, fileId: file.fileId }, 'an attached file could not be read')
      return { note: `The file ${quoted(file.name)} cannot be read right now.` }
    }
    if (error.code === 'NOT_FOUND') return { note: `The file ${quoted(file.name)} is gone: it was deleted.` }
    return { note: `${quoted(file.name)}: ${error.message}` }
  }
}

const notShown = ({ name }: PromptFile): string => `${quoted(name)} is not shown: the files of a call are limited.`

/** Chooses and loads the files of a conversation, newest first. Each file is shown once, at its newest place. */
const createChooser = (deps: MediaDeps, scope: MediaScope) => {
  const media = new Map<string, PromptMedia>()
  const seen = new Set<string>()
  let { bytes: roomBytes, files: roomFiles }: { bytes: number; files: number } = mediaLimits
  let roomTokens = scope.maxTokens
  const choose = async (file: PromptFile): Promise<{ file?: PromptFile; note?: string }> => {
    if (seen.has(file.fileId)) return {}
    seen.add(file.fileId)
    if (roomFiles <= 0 || roomTokens <= 0) return { note: notShown(file) }
    roomFiles -= 1
    const { media: found, ...shown } = await shownFor(deps, scope, file)
    if (found && 'tokens' in shown && shown.tokens <= roomTokens && found.bytes.length <= roomBytes) {
      roomTokens -= shown.tokens
      roomBytes -= found.bytes.length
      media.set(file.fileId, found)
      return { file: { ...file, tokens: shown.tokens } }
    }
    const { note = notShown(file) } = shown
    const tokens = estimateTokens(note)
    if (tokens > roomTokens) return { note: notShown(file) }
    roomTokens -= tokens
    return { note }
  }
  const chooseAll = async (files: readonly PromptFile[]): Promise<{ files: PromptFile[]; notes: string[] }> => {
    const chosen: PromptFile[] = []
    const notes: string[] = []
    for (const one of files.toReversed()) {
      const { file, note } = await choose(one)
      if (file) chosen.unshift(file)
      if (note !== undefined) notes.unshift(note)
    }
    return { files: chosen, notes }
  }
  return { media, chooseAll }
}

type Chooser = ReturnType<typeof createChooser>

const withFiles = async (message: PromptMessage, chooser: Chooser): Promise<PromptMessage> => {
  if (message.role === 'user' && message.files) {
    const { files, notes } = await chooser.chooseAll(message.files)
    return { role: 'user', text: withNotes(message.text, notes), files }
  }
  if (message.role !== 'tool' || !message.results.some(({ files }) => files)) return message
  const results = []
  for (const result of message.results.toReversed()) {
    const { files, notes } = await chooser.chooseAll(result.files ?? [])
    const output = notes.length === 0 ? result.output : { result: result.output, note: notes.join(' ') }
    results.unshift({ ...result, output, files })
  }
  return { ...message, results }
}

const hasFiles = (message: PromptMessage): boolean => filesOf(message).length > 0

const mapNewestFirst = async <T>(items: readonly T[], map: (item: T) => Promise<T>): Promise<T[]> => {
  const mapped: T[] = []
  for (const item of items.toReversed()) mapped.unshift(await map(item))
  return mapped
}

export interface Conversation {
  /** Newest first. */
  exchanges: readonly Exchange[]
  /** The messages of the current turn. */
  own: PromptMessage[]
}

type Loaded = Conversation & { media: ReadonlyMap<string, PromptMedia> }

const loadMedia = async (deps: MediaDeps, { exchanges, own }: Conversation, scope: MediaScope): Promise<Loaded> => {
  if (![...own, ...exchanges.flatMap(({ messages }) => messages)].some(hasFiles)) {
    return { exchanges, own, media: new Map() }
  }
  const chooser = createChooser(deps, scope)
  const map = (message: PromptMessage): Promise<PromptMessage> => withFiles(message, chooser)
  const shownOwn = await mapNewestFirst(own, map)
  const shown: Exchange[] = []
  for (const exchange of exchanges) {
    if (!exchange.messages.some(hasFiles)) shown.push(exchange)
    else {
      const messages = await mapNewestFirst(exchange.messages, map)
      shown.push({ ...exchange, messages, tokens: tokensOf(messages) })
    }
  }
  return { exchanges: shown, own: shownOwn, media: chooser.media }
}

export interface Attachments {
  /**
   * Loads the pictures and PDF files of a conversation with the rights that the person has now. Files that the model cannot
   * be shown are replaced by a text.
   */
  load(conversation: Conversation, scope: MediaScope): Promise<Loaded>
}

export const createAttachments = (deps: MediaDeps): Attachments => ({
  load: (conversation, scope) => loadMedia(deps, conversation, scope),
})
