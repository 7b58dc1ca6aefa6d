import { createDocumentWriter } from './document-writer.ts'
import type { DocumentWriter } from './document-writer.ts'
import { mainPartOf, readRelations } from './office-package.ts'
import type { Relations } from './office-package.ts'
import type { PreviewPayload } from '../payload.ts'
import { readXml } from './xml.ts'
import type { XmlHandlers } from './xml.ts'
import type { Archive } from './zip.ts'

/** The parts of the slides in presentation order. */
const slidesOf = async (archive: Archive, main: string): Promise<string[]> => {
  const relations = await readRelations(archive, main)
  const slides: string[] = []
  await readXml(archive.read(main), {
    open: (name, attribute) => {
      if (name !== 'sldId') return
      const part = relations.get(attribute(':id') ?? '')?.target
      if (part !== undefined && archive.has(part)) slides.push(part)
    },
  })
  return slides
}

/** Handlers for a slide: the elements of DrawingML (ECMA-376 part 1, section 21.1.2) that contain text. */
const slideHandlers = (writer: DocumentWriter, relations: Relations): XmlHandlers => {
  let isTitle = false
  let run: { bold: boolean; italic: boolean; href: string | undefined } = {
    bold: false,
    italic: false,
    href: undefined,
  }
  let isText = false
  return {
    open: (name, attribute, parent) => {
      if (name === 'sp') isTitle = false
      else if (name === 'ph') isTitle = /^(?:ctrT|t)itle$/.test(attribute('type') ?? '')
      else if (name === 'p') writer.openBlock({ heading: isTitle ? 3 : undefined })
      else if (name === 'r' || name === 'fld') run = { bold: false, italic: false, href: undefined }
      else if (name === 'rPr') {
        run.bold = attribute('b') === '1'
        run.italic = attribute('i') === '1'
      } else if (name === 'hlinkClick' && parent === 'rPr') run.href = relations.get(attribute(':id') ?? '')?.target
      else if (name === 't') isText = true
      else if (name === 'br') writer.lineBreak()
      else if (name === 'tbl') writer.openTable()
      else if (name === 'tr') writer.openRow()
      else if (name === 'tc') writer.openCell()
    },
    text: (text) => {
      if (isText) writer.write(text, run)
    },
    close: (name) => {
      if (name === 't') isText = false
      else if (name === 'p') writer.closeBlock()
      else if (name === 'tc') writer.closeCell()
      else if (name === 'tr') writer.closeRow()
      else if (name === 'tbl') writer.closeTable()
    },
  }
}

/** Returns the text of a presentation, slide by slide. */
export const previewPptx = async (archive: Archive, isLate: () => boolean): Promise<PreviewPayload> => {
  const writer = createDocumentWriter()
  const isEnough = (): boolean => writer.isFull() || isLate()
  const slides = await slidesOf(archive, await mainPartOf(archive, 'ppt/presentation.xml'))
  for (const [index, slide] of slides.entries()) {
    if (isEnough()) break
    writer.openBlock({ heading: 2 })
    writer.write(`Slide ${index + 1}`)
    writer.closeBlock()
    const relations = await readRelations(archive, slide)
    await readXml(archive.read(slide), slideHandlers(writer, relations), { ignore: new Set(['Fallback']), isEnough })
  }
  return writer.finish({ truncated: isLate() })
}
