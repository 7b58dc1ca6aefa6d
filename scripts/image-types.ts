import { limits } from '../src/files/preview/pictures/limits.ts'
import { imageTypes } from '../src/files/preview/pictures/pictures.ts'

/** The types that the server can resize, for the console. */
export const imageTypesText = (): string =>
  [
    '// Made from src/files/preview/pictures by `npm run generate`.',
    '',
    '/** The types that the server can resize. For a PDF, it renders the first page. */',
    'export const imageTypes: ReadonlySet<string> = new Set([',
    ...[...imageTypes].map((type) => `  '${type}',`),
    '])',
    '',
    '/** The largest file that it resizes. */',
    `export const maxImageSourceBytes = ${limits.sourceBytes.toLocaleString('en').replaceAll(',', '_')}`,
    '',
  ].join('\n')
