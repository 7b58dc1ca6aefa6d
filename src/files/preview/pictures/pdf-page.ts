import type { Canvas, SKRSContext2D } from '@napi-rs/canvas'
import type sharpModule from 'sharp'
import { fileURLToPath } from 'node:url'
import { folderOfPdfjs, openPdf } from '../open-pdf.ts'
import { PreviewError, damaged } from '../payload.ts'
import type { ImageSpec } from './image-spec.ts'
import { limits } from './limits.ts'

type Viewport = { width: number; height: number }

/**
 * How much a page is enlarged, so that its image needs no more pixels than asked for. A page has no pixels of its own, so
 * it fills the size, except for a strip that would be too long.
 */
export const scaleOf = (page: Viewport, { width, height, fit }: Omit<ImageSpec, 'format'>): number => {
  const scales = [
    ...(width === undefined ? [] : [width / page.width]),
    ...(height === undefined ? [] : [height / page.height]),
  ]
  const wanted = fit === 'cover' ? Math.max(...scales) : Math.min(...scales)
  return Math.min(wanted, limits.pdf.edge / Math.max(page.width, page.height))
}

/** Whether pdf.js has left out pictures or other content of the page, which it reports as a warning. */
let leavesOut = false

const warn = (message: unknown): void => {
  leavesOut ||= /^Warning: (?:Image |Unable to decode |getOperatorList - ignoring XObject)/.test(String(message))
}

/** What pdf.js uses of a browser. */
const addGlobals = async (): Promise<void> => {
  const { DOMMatrix, Path2D } = await import('@napi-rs/canvas')
  Object.assign(globalThis, { DOMMatrix, Path2D })
  Object.assign(console, { warn })
}

/** For documents that do not embed their fonts, on machines that have none. */
const registerFonts = async (): Promise<void> => {
  const { GlobalFonts } = await import('@napi-rs/canvas')
  for (const weight of [400, 700]) {
    const file = import.meta.resolve(`@fontsource/noto-sans/files/noto-sans-latin-${weight}-normal.woff`)
    GlobalFonts.registerFromPath(fileURLToPath(file), 'Noto Sans')
  }
}

const isWhite = ({ buffer, byteOffset, length }: Uint8ClampedArray): boolean =>
  new Uint32Array(buffer, byteOffset, length / 4).every((pixel) => pixel === 0xff_ff_ff_ff)

/** The first page of a PDF on white, as an uncompressed PNG of about the size that is asked for. Throws a PreviewError. */
export const renderFirstPage = async (sharp: typeof sharpModule, bytes: Buffer, spec: ImageSpec): Promise<Buffer> => {
  await addGlobals()
  const pdf = await openPdf(bytes, {
    // Fonts that are not embedded: the standard ones are drawn as shapes too, others are replaced by registered ones.
    useSystemFonts: false,
    standardFontDataUrl: folderOfPdfjs('standard_fonts'),
    // Decoders of JPEG 2000, JBIG2 and CCITT fax.
    wasmUrl: folderOfPdfjs('wasm'),
    maxImageSize: limits.inputPixels,
    verbosity: 1,
  })
  if (pdf.numPages === 0) throw new PreviewError('it has no pages')
  await registerFonts()
  const { createCanvas } = await import('@napi-rs/canvas')
  let canvas: Canvas
  let context: SKRSContext2D
  try {
    const page = await pdf.getPage(1)
    const size = page.getViewport({ scale: 1 })
    const viewport = page.getViewport({ scale: scaleOf(size, spec) })
    canvas = createCanvas(Math.max(1, Math.round(viewport.width)), Math.max(1, Math.round(viewport.height)))
    context = canvas.getContext('2d')
    const target = { canvas, canvasContext: context } as unknown as { canvas: null }
    await page.render({ ...target, viewport }).promise
  } catch (error) {
    throw damaged(error)
  }
  const { width, height } = canvas
  const { data } = context.getImageData(0, 0, width, height)
  // Most often a scan. A white image would look like an empty page.
  if (leavesOut && isWhite(data)) {
    throw new PreviewError('its first page shows nothing, because its content is damaged or exceeds the limits')
  }
  return sharp(data, { raw: { width, height, channels: 4 } })
    .removeAlpha()
    .png({ compressionLevel: 0 })
    .toBuffer()
}
