import { posix } from 'node:path'
import { damaged } from '../payload.ts'
import { readXml } from './xml.ts'
import type { Archive } from './zip.ts'

/** The relationships of a part of an OOXML package, by relationship id (ECMA-376 part 2). */
export type Relations = Map<string, { type: string; target: string }>

const relationsPartOf = (part: string): string => {
  const { dir, base } = posix.parse(part)
  return posix.join(dir, '_rels', `${base}.rels`)
}

/**
 * Reads the relationships of a part, or of the package for ''. Types have no namespace. Targets inside the package are
 * part names; external targets are unchanged.
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

/** The name of the package's main part, which is not always `usual`. Throws a PreviewError if the part is missing. */
export const mainPartOf = async (archive: Archive, usual: string): Promise<string> => {
  const relations = await readRelations(archive, '')
  const main = [...relations.values()].find(({ type }) => type === 'officeDocument')?.target ?? usual
  if (!archive.has(main)) throw damaged(`no part ${main}`)
  return main
}
