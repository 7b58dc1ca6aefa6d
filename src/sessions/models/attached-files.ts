export interface AttachedFile {
  fileId: string
  name: string
  mimeType: string
  sizeBytes: number
}

const heading = 'Attached files:'

/** The person's text, followed by the list of attached files, for the model. */
export const withAttachedFiles = (text: string, files: AttachedFile[]): string =>
  files.length === 0
    ? text
    : `${text}\n\n${heading}\n${files.map((file) => `- ${file.name} (file ${file.fileId}, ${file.mimeType}, ${file.sizeBytes} bytes)`).join('\n')}`

/** Adds paragraphs about the files after their list. A line of a file that reads like the heading is indented. */
export const withNotes = (text: string, notes: readonly string[]): string =>
  [text, ...notes.map((note) => note.replaceAll(/^(?=Attached files:$)/gm, ' '))].join('\n\n')

const line = /^- (?:.+) \(file ([0-9a-f]{8}-[0-9a-f-]{27}), /gm

/** The reverse of `withAttachedFiles`, also with notes: the person's text and the ids of the files. */
export const readAttachedFiles = (text: string): { words: string; fileIds: string[] } => {
  const start = `\n\n${heading}\n`
  const at = text.lastIndexOf(start)
  if (at === -1) return { words: text, fileIds: [] }
  const list = text.slice(at + start.length).split('\n\n', 1)[0] ?? ''
  return { words: text.slice(0, at), fileIds: [...list.matchAll(line)].map(([, id]) => id ?? '') }
}
