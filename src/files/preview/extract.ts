import type { Format } from './formats/formats.ts'
import { PreviewError, damaged, limits, oversized } from './payload.ts'
import type { PreviewPayload } from './payload.ts'

/** The whole source in one buffer, without copies. Pages of the buffer use no memory until they are written. */
const collect = async (source: AsyncIterable<Buffer>): Promise<Buffer> => {
  const whole = Buffer.allocUnsafeSlow(limits.sourceBytes)
  let size = 0
  for await (const chunk of source) {
    if (size + chunk.length > whole.length) throw oversized()
    size += chunk.copy(whole, size)
  }
  return whole.subarray(0, size)
}

// Readers are loaded on demand: loading the PDF reader takes longer than reading most files.
const readers: Record<
  Exclude<Format, 'text'>,
  (source: AsyncIterable<Buffer>, isLate: () => boolean) => Promise<PreviewPayload>
> = {
  csv: async (source, isLate) => (await import('./formats/csv.ts')).previewCsv(source, 'csv', isLate),
  tsv: async (source, isLate) => (await import('./formats/csv.ts')).previewCsv(source, 'tsv', isLate),
  rtf: async (source, isLate) => (await import('./formats/rtf.ts')).previewRtf(await collect(source), isLate),
  pdf: async (source, isLate) => (await import('./formats/pdf.ts')).previewPdf(await collect(source), isLate),
  docx: async (source, isLate) => (await import('./formats/docx.ts')).previewDocx(await openOffice(source), isLate),
  pptx: async (source, isLate) => (await import('./formats/pptx.ts')).previewPptx(await openOffice(source), isLate),
  xlsx: async (source, isLate) => (await import('./formats/xlsx.ts')).previewXlsx(await openOffice(source), isLate),
  odt: async (source, isLate) =>
    (await import('./formats/opendocument.ts')).previewOpenDocument(await openOffice(source), isLate),
  odp: async (source, isLate) =>
    (await import('./formats/opendocument.ts')).previewOpenDocument(await openOffice(source), isLate),
  ods: async (source, isLate) => (await import('./formats/ods.ts')).previewOds(await openOffice(source), isLate),
}

const openOffice = async (source: AsyncIterable<Buffer>) =>
  (await import('./formats/zip.ts')).openArchive(await collect(source))

/** Reads a file of any format except plain text. Throws a PreviewError for every problem with the file. */
export const extract = async (
  format: Exclude<Format, 'text'>,
  source: AsyncIterable<Buffer>,
  isLate: () => boolean,
): Promise<PreviewPayload> => {
  try {
    return await readers[format](source, isLate)
  } catch (error) {
    throw error instanceof PreviewError ? error : damaged(error)
  }
}
