import { limits } from '../src/files/preview/pictures/limits.ts'
import { imageTypes } from '../src/files/preview/pictures/pictures.ts'

/** The types of which the server makes images in other sizes, for the console. */
export const imageTypesText = (): string =>
  [
    '// Made from src/files/preview/pictures by `npm run generate`.',
    '',
    '/** The types of which the server makes images in other sizes. Of a PDF, it shows the first page. */',
    'export const imageTypes: ReadonlySet<string> = new Set([',
    ...[...imageTypes].map((type) => `  '${type}',`),
    '])',
    '',
    '/** The largest file of which it makes images. */',
    `export const maxImageSourceBytes = ${limits.sourceBytes.toLocaleString('en').replaceAll(',', '_')}`,
    '',
  ].join('\n')
