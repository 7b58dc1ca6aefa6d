import { badRequest } from '../../platform/http/errors.ts'

/** How the first bytes of a type are checked. Types without a signature are not checked. */
export type Signature =
  | 'png'
  | 'jpeg'
  | 'gif'
  | 'webp'
  | 'avif'
  | 'heif'
  | 'tiff'
  | 'bmp'
  | 'svg'
  | 'pdf'
  | 'rtf'
  | 'zip'
  | 'ooxml'
  | 'ole'
  | 'tar'
  | 'gzip'
  | '7z'

const ooxml = (name: string): string => `application/vnd.openxmlformats-officedocument.${name}`
const openDocument = (name: string): string => `application/vnd.oasis.opendocument.${name}`

const unchecked: string[] = [
  // Text, markup and data
  'text/plain',
  'text/markdown',
  'text/x-markdown',
  'text/csv',
  'text/tab-separated-values',
  'text/html',
  'text/css',
  'text/xml',
  'text/yaml',
  'text/x-yaml',
  'text/calendar',
  'text/vcard',
  'text/x-log',
  'text/x-rst',
  'text/x-diff',
  'text/x-patch',
  'text/vtt',
  'text/x-tex',
  'application/x-tex',
  'application/json',
  'application/ld+json',
  'application/geo+json',
  'application/x-ndjson',
  'application/jsonl',
  'application/xml',
  'application/xhtml+xml',
  'application/rss+xml',
  'application/atom+xml',
  'application/yaml',
  'application/x-yaml',
  'application/toml',
  'application/sql',
  'application/graphql',
  // Source code
  'text/javascript',
  'application/javascript',
  'application/x-javascript',
  'text/typescript',
  'application/typescript',
  'text/x-typescript',
  'text/jsx',
  'text/tsx',
  'text/x-python',
  'application/x-python-code',
  'text/x-java',
  'text/x-java-source',
  'text/x-c',
  'text/x-csrc',
  'text/x-chdr',
  'text/x-c++',
  'text/x-c++src',
  'text/x-c++hdr',
  'text/x-csharp',
  'text/x-go',
  'text/x-rust',
  'text/rust',
  'text/x-ruby',
  'application/x-ruby',
  'text/x-php',
  'application/x-httpd-php',
  'text/x-kotlin',
  'text/x-scala',
  'text/x-swift',
  'text/x-lua',
  'text/x-perl',
  'text/x-r',
  'text/x-sql',
  'text/x-haskell',
  'text/x-scss',
  'text/x-sass',
  'text/x-less',
  'text/x-vue',
  'text/x-toml',
  'text/x-ini',
  'text/x-properties',
  'text/x-dockerfile',
  'text/x-makefile',
  // Audio and video
  'audio/mpeg',
  'audio/mp3',
  'audio/wav',
  'audio/x-wav',
  'audio/wave',
  'audio/vnd.wave',
  'audio/ogg',
  'audio/flac',
  'audio/x-flac',
  'audio/mp4',
  'audio/m4a',
  'audio/x-m4a',
  'audio/aac',
  'audio/webm',
  'video/mp4',
  'video/webm',
  'video/quicktime',
  // Data files
  'application/vnd.apache.parquet',
  'application/x-parquet',
  'application/vnd.sqlite3',
  'application/x-sqlite3',
  'application/octet-stream',
]

const checked: [Signature, ...string[]][] = [
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg', 'image/jpg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['avif', 'image/avif'],
  ['heif', 'image/heic', 'image/heif', 'image/heic-sequence', 'image/heif-sequence'],
  ['tiff', 'image/tiff'],
  ['bmp', 'image/bmp', 'image/x-ms-bmp'],
  ['svg', 'image/svg+xml'],
  ['pdf', 'application/pdf'],
  ['rtf', 'application/rtf', 'text/rtf'],
  ['zip', 'application/zip', 'application/x-zip-compressed', 'application/epub+zip'],
  ['zip', ...['text', 'spreadsheet', 'presentation', 'graphics'].map(openDocument)],
  ['zip', ...['text-template', 'spreadsheet-template', 'presentation-template'].map(openDocument)],
  ['ooxml', ooxml('wordprocessingml.document'), ooxml('wordprocessingml.template')],
  ['ooxml', ooxml('spreadsheetml.sheet'), ooxml('spreadsheetml.template')],
  ['ooxml', ooxml('presentationml.presentation'), ooxml('presentationml.slideshow'), ooxml('presentationml.template')],
  ['ole', 'application/msword', 'application/vnd.ms-excel', 'application/vnd.ms-powerpoint', 'application/vnd.visio'],
  ['tar', 'application/x-tar', 'application/tar'],
  ['gzip', 'application/gzip', 'application/x-gzip'],
  ['7z', 'application/x-7z-compressed'],
]

/** Every type that can be stored, with its signature. Executables and shell scripts are not in the list. */
export const storedTypes: ReadonlyMap<string, Signature | undefined> = new Map<string, Signature | undefined>([
  ...unchecked.map((type): [string, undefined] => [type, undefined]),
  ...checked.flatMap(([signature, ...types]) => types.map((type): [string, Signature] => [type, signature])),
])

/** The type without parameters, in lower case: `Text/Plain; charset=utf-8` becomes `text/plain`. */
export const bareTypeOf = (header: string): string => (header.split(';', 1)[0] ?? '').trim().toLowerCase()

/** The type as it is stored. Throws BAD_REQUEST for a type that is not in the list. */
export const checkMimeType = (declared: string): string => {
  const type = bareTypeOf(declared)
  if (!storedTypes.has(type)) throw badRequest('mimeType must be one of the types that can be stored')
  return type
}

/** Clients that know no type declare bytes. These extensions are those of files that agents can read. */
export const typeByExtension: Record<string, string> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  jsonl: 'application/jsonl',
  html: 'text/html',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
}

/** The type of a file whose type is not declared, by the extension of its name; else that of any bytes. */
export const typeOfName = (name: string): string => {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const known = Object.hasOwn(typeByExtension, extension) ? typeByExtension[extension] : undefined
  return known ?? 'application/octet-stream'
}
