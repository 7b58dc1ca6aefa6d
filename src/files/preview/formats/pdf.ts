import { openPdf } from '../open-pdf.ts'
import { createDocumentWriter } from './document-writer.ts'
import { damaged } from '../payload.ts'
import type { PreviewPayload } from '../payload.ts'

/** Returns the text of a PDF, page by page, with the line breaks of each page. */
export const previewPdf = async (source: Buffer, isLate: () => boolean): Promise<PreviewPayload> => {
  // Only text is needed, so no fonts are loaded and no WebAssembly is compiled.
  const pdf = await openPdf(source, { useSystemFonts: false, useWasm: false })
  const writer = createDocumentWriter()
  let late = false
  for (let number = 1; number <= pdf.numPages && !writer.isFull() && !late; number += 1) {
    writer.openBlock({ heading: 2 })
    writer.write(`Page ${number}`)
    writer.closeBlock()
    try {
      const page = await pdf.getPage(number)
      const { items } = await page.getTextContent()
      for (const item of items) {
        if (!('str' in item)) continue
        writer.write(item.str)
        if (item.hasEOL) writer.lineBreak()
      }
      writer.closeBlock()
      page.cleanup()
    } catch (error) {
      throw damaged(error)
    }
    late = isLate()
  }
  return writer.finish({ truncated: late })
}
