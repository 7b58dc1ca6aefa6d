import { openPdf } from '../../src/files/preview/open-pdf.ts'

/** The text of each page of a PDF. */
export const pdfText = async (bytes: Uint8Array): Promise<string[]> => {
  const pdf = await openPdf(Buffer.from(bytes), { useSystemFonts: false, useWasm: false })
  const pages = Array.from({ length: pdf.numPages }, async (_, index) => {
    const { items } = await (await pdf.getPage(index + 1)).getTextContent()
    return items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('')
  })
  return Promise.all(pages)
}
