import { posix } from 'node:path'
import { damaged } from '../payload.ts'
import { readXml } from './xml.ts'
import type { Archive } from './zip.ts'

/** What a part of an OOXML package refers to, by the id that its XML uses (ECMA-376 part 2). */
export type Relations = Map<string, { type: string; target: string }>

const relationsPartOf = (part: string): string => {
  const { dir, base } = posix.parse(part)
  return posix.join(dir, '_rels', `${base}.rels`)
}

/**
 * The relations of a part, or of the package itself for ''. Types come without their namespace; targets inside the
 * package are names of parts, targets outside are as they are written.
 */
export const readRelations = async (archive: Archive, part: string): Promise<Relations> => {
  const relations: Relations = new Map()
  const source = relationsPartOf(part)
  if (!archive.has(source)) return relations
  await readXml(archive.read(source), {
    open: (name, attribute) => {
      if (name !== 'Relationship') return
      const [id = '', type = '', target = ''] = [attribute('Id'), attribute('Type'), attribute('Target')]
      const isOutside = attribute('TargetMode') === 'External'
      relations.set(id, {
        type: type.slice(type.lastIndexOf('/') + 1),
        target: isOutside ? target : posix.resolve('/', posix.dirname(part), target).slice(1),
      })
    },
  })
  return relations
}

/** The part that the package is about. Some writers do not give it its usual name. */
export const mainPartOf = async (archive: Archive, usual: string): Promise<string> => {
  const relations = await readRelations(archive, '')
  const main = [...relations.values()].find(({ type }) => type === 'officeDocument')?.target ?? usual
  if (!archive.has(main)) throw damaged(`no part ${main}`)
  return main
}
