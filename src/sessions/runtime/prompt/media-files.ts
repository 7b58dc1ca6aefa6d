import { pictureTypes } from '../../../files/files.ts'
import type { PromptFile } from '../../models/model-client.ts'

export const pdfType = 'application/pdf'

/** Whether a model may be shown the file itself. The content of other files is read by tools. */
export const isMedia = ({ mimeType }: { mimeType: string }): boolean =>
  pictureTypes.has(mimeType) || mimeType === pdfType

interface PictureOutput {
  fileId?: unknown
  name?: unknown
  mimeType?: unknown
  sizeBytes?: unknown
  picture?: unknown
  content?: unknown
}

const isText = (value: unknown): value is string => typeof value === 'string'

/**
 * The pictures that the output of a tool names. Only `files.read` names files of the org: the output of an MCP server
 * or A2A agent is foreign, and the ids in it are of pictures that the turn keeps.
 */
export const picturesIn = (toolName: string, output: unknown): PromptFile[] => {
  const { fileId, name, mimeType, sizeBytes, picture, content } = (output ?? {}) as PictureOutput
  if (toolName === 'files.read') {
    const isPicture = picture === true && isText(fileId) && isText(name) && isText(mimeType)
    return isPicture ? [{ fileId, name, mimeType, sizeBytes: Number(sizeBytes) }] : []
  }
  if (!/^(?:mcp|a2a)__/.test(toolName) || !Array.isArray(content)) return []
  return content.flatMap((part: { type?: unknown; pictureId?: unknown } | null) =>
    part?.type === 'image' && isText(part.pictureId)
      ? [{ fileId: part.pictureId, name: 'picture', mimeType: 'image/*', sizeBytes: 0, isKept: true }]
      : [],
  )
}
