import type { PreviewPayload } from '../payload.ts'

/** The file formats that can be previewed. */
export type Format = 'text' | 'csv' | 'tsv' | 'docx' | 'pptx' | 'xlsx' | 'odt' | 'odp' | 'ods' | 'rtf' | 'pdf'

export const kindOf = (format: Format): PreviewPayload['kind'] => {
  if (format === 'text') return 'text'
  return format === 'csv' || format === 'tsv' || format === 'xlsx' || format === 'ods' ? 'spreadsheet' : 'document'
}

const ooxml = 'application/vnd.openxmlformats-officedocument.'
const openDocument = 'application/vnd.oasis.opendocument.'

const formatOfType: Record<string, Format> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'application/pdf': 'pdf',
  'application/rtf': 'rtf',
  'text/rtf': 'rtf',
  [`${ooxml}wordprocessingml.document`]: 'docx',
  [`${ooxml}wordprocessingml.template`]: 'docx',
  [`${ooxml}presentationml.presentation`]: 'pptx',
  [`${ooxml}presentationml.slideshow`]: 'pptx',
  [`${ooxml}presentationml.template`]: 'pptx',
  [`${ooxml}spreadsheetml.sheet`]: 'xlsx',
  [`${ooxml}spreadsheetml.template`]: 'xlsx',
  [`${openDocument}text`]: 'odt',
  [`${openDocument}text-template`]: 'odt',
  [`${openDocument}presentation`]: 'odp',
  [`${openDocument}presentation-template`]: 'odp',
  [`${openDocument}spreadsheet`]: 'ods',
  [`${openDocument}spreadsheet-template`]: 'ods',
  'image/svg+xml': 'text',
}

// Types outside text/ whose bytes are text.
const textType =
  /^application\/(?:.+\+(?:json|xml|yaml)|json|jsonl|x-ndjson|xml|yaml|x-yaml|toml|sql|graphql|javascript|x-javascript|typescript|x-tex|x-python-code|x-ruby|x-httpd-php)$/

const formatOfExtension: Record<string, Format> = {
  ...Object.fromEntries(
    (
      'txt text log md markdown json jsonl ndjson xml yaml yml toml ini cfg conf properties html htm css scss sass less ' +
      'js mjs cjs jsx ts mts cts tsx vue svelte py rb php java kt kts scala swift go rs c h cc cpp cxx hpp cs lua pl r ' +
      'sql graphql hs tex rst adoc diff patch vtt srt ics vcf svg csproj gradle tf proto'
    )
      .split(' ')
      .map((extension) => [extension, 'text' as const]),
  ),
  csv: 'csv',
  tsv: 'tsv',
  docx: 'docx',
  dotx: 'docx',
  pptx: 'pptx',
  ppsx: 'pptx',
  potx: 'pptx',
  xlsx: 'xlsx',
  xltx: 'xlsx',
  odt: 'odt',
  ott: 'odt',
  odp: 'odp',
  otp: 'odp',
  ods: 'ods',
  ots: 'ods',
  rtf: 'rtf',
  pdf: 'pdf',
}

/** The format of a file; undefined if it has no preview. The name is used only for application/octet-stream. */
export const formatOf = (mimeType: string, name: string): Format | undefined => {
  if (mimeType === 'application/octet-stream') {
    const [, extension = ''] = /\.([^.]+)$/.exec(name.toLowerCase()) ?? []
    return Object.hasOwn(formatOfExtension, extension) ? formatOfExtension[extension] : undefined
  }
  if (Object.hasOwn(formatOfType, mimeType)) return formatOfType[mimeType]
  return mimeType.startsWith('text/') || textType.test(mimeType) ? 'text' : undefined
}
