import { fileURLToPath } from 'node:url'
import type { PDFDocumentProxy } from 'pdfjs-dist'
import type { DocumentInitParameters } from 'pdfjs-dist/types/src/display/api.js'
import { damaged, encrypted } from './payload.ts'

/** A folder of pdfjs-dist, of which pdf.js reads single files when a document needs them. */
export const folderOfPdfjs = (name: 'cmaps' | 'standard_fonts' | 'wasm'): string =>
  fileURLToPath(new URL(`../${name}/`, import.meta.resolve('pdfjs-dist')))

// The only function of the build for browsers that Node.js 26 lacks. pdf.js adds up lengths and widths with it. Its build
// for older versions of Node.js takes 200 ms of CPU time and 15 MB more to load.
;(Math as { sumPrecise?: (terms: Iterable<number>) => number }).sumPrecise ??= (terms) =>
  Iterator.from(terms).reduce((sum, term) => sum + term, 0)

const { getDocument } = await import('pdfjs-dist')

/** Opens a PDF, after which the bytes may be detached. Throws a PreviewError. */
export const openPdf = async (bytes: Buffer, options: DocumentInitParameters): Promise<PDFDocumentProxy> => {
  const data = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    return await getDocument({
      data,
      cMapUrl: folderOfPdfjs('cmaps'),
      disableFontFace: true,
      verbosity: 0,
      ...options,
    }).promise
  } catch (error) {
    throw (error as Error).name === 'PasswordException' ? encrypted() : damaged(error)
  }
}
