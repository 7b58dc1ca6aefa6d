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

const line = /^- (?:.+) \(file ([0-9a-f]{8}-[0-9a-f-]{27}), /gm

/** The reverse of `withAttachedFiles`: the person's text and the ids of the files. */
export const readAttachedFiles = (text: string): { words: string; fileIds: string[] } => {
  const at = text.lastIndexOf(`\n\n${heading}\n`)
  if (at === -1) return { words: text, fileIds: [] }
  return { words: text.slice(0, at), fileIds: [...text.slice(at).matchAll(line)].map(([, id]) => id ?? '') }
}
