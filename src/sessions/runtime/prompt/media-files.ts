import { pictureTypes } from '../../../files/files.ts'

export const pdfType = 'application/pdf'

/** Whether a model may be shown the file itself. The content of other files is read by tools. */
export const isMedia = ({ mimeType }: { mimeType: string }): boolean =>
  pictureTypes.has(mimeType) || mimeType === pdfType
