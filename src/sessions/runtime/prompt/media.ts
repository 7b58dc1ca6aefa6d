import { isOwnContent, pictureLimits, readFileBytes, readFileText, readPicture } from '../../../files/files.ts'
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
import type { KeptPictures, PictureOwner } from './kept-pictures.ts'
import type { MediaBudget } from './media-budget.ts'
import { pdfType } from './media-files.ts'
import { estimateTokens, filesOf, tokensOf } from './prompt.ts'
import type { Exchange } from './prompt.ts'

/** Of one model call. The oldest files are left out first. */
export const mediaLimits = {
  files: 20,
  /** Every running turn has them in memory. */
  bytes: 8_388_608,
  /** Of all PDF files. Anthropic accepts 100 pages and pictures with a context window of 200,000 tokens. */
  pdfPages: 80,
  pdfBytes: 4_194_304,
  /** The text of one PDF for a model that takes no PDF files. */
  textBytes: 40_000,
} as const

export interface AttachmentDeps {
  mediaBudget: MediaBudget
  keptPictures: KeptPictures
}

export interface MediaDeps extends AttachmentDeps {
  db: Database
  log: Log
  objects: ObjectStore
  previewer: Previewer
}

/** What the model gets: the file, or its text if there is no room for it; only its text; or why it is not shown. */
type Shown =
  | { media: PromptMedia; tokens: number; pages?: number; text?: string }
  | { media?: undefined; text: string }
  | { note: string }

export interface MediaScope {
  actor: Actor
  model: CallTarget['model']
  signal: AbortSignal
  /** The tokens that all files of the call may have. */
  maxTokens: number
  noteUntrusted: () => void
}

/** What the turn adds. `isGivenUp`: the provider rejected files, so the model gets only the text of PDF files. */

type TurnScope = MediaScope & { owner: PictureOwner; isGivenUp: boolean }

const fromPicture = (model: MediaScope['model'], file: PromptFile, picture: Picture): Shown => {
  const { bytes, mimeType, width, height } = picture
  return { media: { bytes, mimeType, name: file.name }, tokens: pictureTokens(model.id, { width, height }) }
}

const keptPicture = ({ keptPictures }: MediaDeps, { model, owner }: TurnScope, file: PromptFile): Shown => {
  const picture = keptPictures.find(owner, file.fileId)
  return picture ? fromPicture(model, file, picture) : { note: 'A picture of this result is no longer available.' }
}

const pictureFor = async (deps: MediaDeps, { actor, model, signal }: MediaScope, file: PromptFile): Promise<Shown> =>
  fromPicture(model, file, await readPicture(deps, actor, file.fileId, signal))

const asText = ({ name }: PromptFile, text: string, truncated: boolean): string => {
  if (text.trim() === '') return `The PDF file ${JSON.stringify(name)} has no text.`
  const shown = truncateToJsonBytes(text, mediaLimits.textBytes)
  const rest = truncated || shown.length < text.length ? '\n(The text goes on. A tool may read the rest.)' : ''
  return `Text of the PDF file ${JSON.stringify(name)}:\n${shown}${rest}`
}

interface Room {
  files: number
  /** A larger file is not read, because every running turn may have one in memory. */
  bytes: number
  pages: number
  tokens: number
}

const pdfFor = async (
  deps: MediaDeps,
  { actor, model, signal }: MediaScope,
  file: PromptFile,
  room: Room,
): Promise<Shown> => {
  const { sizeBytes, text, truncated } = await readFileText(deps, actor, file.fileId, signal)
  // The extracted text has a heading for each page.
  const pages = text.match(/^(?:#+ )?Page \d+$/gm)?.length ?? 0
  const maxBytes = Math.min(mediaLimits.pdfBytes, room.bytes)
  const fits = sizeBytes <= maxBytes && pages > 0 && pages <= room.pages && !truncated
  const asNote = asText(file, text, truncated)
  if (!model.input.pdf || !fits) return { text: asNote }
  const bytes = await readFileBytes(deps, actor, file.fileId, maxBytes)
  const tokens = pdfTokens(model.id, pages, estimateTokens(text))
  return { media: { bytes, mimeType: pdfType, name: file.name }, tokens, pages, text: asNote }
}

const shownFor = async (deps: MediaDeps, scope: TurnScope, file: PromptFile, room: Room): Promise<Shown> => {
  if (file.isKept === true) return keptPicture(deps, scope, file)
  const { actor, signal } = scope
  const name = JSON.stringify(file.name)
  if (!actor.permissions.has('files:read')) return { note: `${name} is not shown: files must not be read.` }
  try {
    return await (file.mimeType === pdfType ? pdfFor : pictureFor)(deps, scope, file, room)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ApiError)) {
      // The conversation must go on when the store has lost a file.
      deps.log.warn({ err: error, fileId: file.fileId }, 'an attached file could not be read')
      return { note: `The file ${name} cannot be read right now.` }
    }
    if (error.code === 'NOT_FOUND') return { note: `The file ${name} is gone: it was deleted.` }
    return { note: `${name}: ${error.message}` }
  }
}

type Choice = { file: PromptFile } | { note: string } | 'blind' | 'no room' | 'shown later'

/** Chooses and loads the files of a conversation, newest first. Each file is shown once, at its newest place. */
const createChooser = (deps: MediaDeps, scope: TurnScope, maxBytes: number) => {
  const { actor, model } = scope
  const media = new Map<string, PromptMedia>()
  const seen = new Set<string>()
  const { files: maxFiles, pdfPages } = mediaLimits
  const room: Room = { files: maxFiles, bytes: maxBytes, pages: pdfPages, tokens: scope.maxTokens }
  const noteSource = async ({ fileId, isKept }: PromptFile): Promise<void> => {
    if (isKept !== true && !(await isOwnContent(deps.db, actor, fileId))) scope.noteUntrusted()
  }
  const choose = async (file: PromptFile): Promise<Choice> => {
    if (seen.has(file.fileId)) return 'shown later'
    seen.add(file.fileId)
    const isPicture = file.mimeType !== pdfType
    if (isPicture && !model.input.images) return 'blind'
    if (room.files <= 0 || room.tokens <= 0 || (isPicture && room.bytes <= 0)) return 'no room'
    room.files -= 1
    const shown = await shownFor(deps, scope, file, room)
    if ('note' in shown) return shown
    const { media: found, text } = shown
    if (found && shown.tokens <= room.tokens && found.bytes.length <= room.bytes) {
      await noteSource(file)
      room.tokens -= shown.tokens
      room.bytes -= found.bytes.length
      room.pages -= shown.pages ?? 0
      media.set(file.fileId, found)
      return { file: { ...file, tokens: shown.tokens } }
    }
    const tokens = text === undefined ? 0 : estimateTokens(text)
    if (text === undefined || tokens > room.tokens) return 'no room'
    await noteSource(file)
    room.tokens -= tokens
    return { note: text }
  }
  const chooseAll = async (files: readonly PromptFile[]): Promise<{ files: PromptFile[]; notes: string[] }> => {
    const chosen: PromptFile[] = []
    const notes: string[] = []
    const count = { blind: 0, 'no room': 0, 'shown later': 0 }
    for (const one of files.toReversed()) {
      const choice = await choose(one)
      if (typeof choice === 'string') count[choice] += 1
      else if ('file' in choice) chosen.unshift(choice.file)
      else notes.unshift(choice.note)
    }
    if (count.blind > 0) notes.push(`This model cannot see pictures. Not shown: ${count.blind}.`)
    if (count['no room'] > 0) {
      notes.push(`Not shown, because there are too many files or the provider rejects them: ${count['no room']}.`)
    }
    return { files: chosen, notes }
  }
  return { media, chooseAll, unusedBytes: () => room.bytes }
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

export interface LoadedConversation extends Conversation {
  media: ReadonlyMap<string, PromptMedia>
  /** The call has ended: its files no longer use memory. */
  release: () => void
}

/** The most bytes that the files of a conversation can have for this model. */
const mostBytes = (messages: readonly PromptMessage[], { input }: MediaScope['model']): number => {
  const byId = new Map(messages.flatMap(filesOf).map((file) => [file.fileId, file]))
  const bytes = [...byId.values()].map(({ mimeType, sizeBytes }) => {
    if (mimeType !== pdfType) return input.images ? pictureLimits.outputBytes : 0
    return input.pdf && sizeBytes <= mediaLimits.pdfBytes ? sizeBytes : 0
  })
  const total = bytes.reduce((sum, one) => sum + one, 0)
  return Math.min(mediaLimits.bytes, total)
}

const chooseNewestFirst = async ({ exchanges, own }: Conversation, chooser: Chooser): Promise<Conversation> => {
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
  return { exchanges: shown, own: shownOwn }
}

const loadMedia = async (
  deps: MediaDeps,
  conversation: Conversation,
  scope: TurnScope,
): Promise<LoadedConversation> => {
  const messages = [...conversation.exchanges.flatMap((exchange) => exchange.messages), ...conversation.own]
  if (!messages.some(hasFiles)) return { ...conversation, media: new Map(), release: () => undefined }
  const { orgId } = scope.owner
  const wanted = scope.isGivenUp ? 0 : mostBytes(messages, scope.model)
  // Without memory, the model still gets the text of PDF files.
  let taken = (await deps.mediaBudget.take(orgId, wanted, scope.signal)) ? wanted : 0
  const release = (): void => {
    deps.mediaBudget.giveBack(orgId, taken)
    taken = 0
  }
  try {
    const chooser = createChooser(deps, scope, taken)
    const shown = await chooseNewestFirst(conversation, chooser)
    const unused = chooser.unusedBytes()
    taken -= unused
    deps.mediaBudget.giveBack(orgId, unused)
    return { ...shown, media: chooser.media, release }
  } catch (error) {
    release()
    throw error
  }
}

export interface Attachments {
  /**
   * Loads the pictures and PDF files of a conversation with the rights that the person has now. Files that the model cannot
   * be shown are replaced by a text.
   */
  load(conversation: Conversation, scope: MediaScope): Promise<LoadedConversation>
  /** The provider rejected a call with files: the model gets no more of them in this turn. */
  giveUp(modelId: string): void
}

export const createAttachments = (deps: MediaDeps, owner: PictureOwner): Attachments => {
  const givenUp = new Set<string>()
  return {
    load: (conversation, scope) =>
      loadMedia(deps, conversation, { ...scope, owner, isGivenUp: givenUp.has(scope.model.id) }),
    giveUp: (modelId) => {
      givenUp.add(modelId)
    },
  }
}
