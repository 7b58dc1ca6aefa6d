// Made from src/files/preview/pictures by `npm run generate`.

/** The types that the server can resize. For a PDF, it renders the first page. */
export const imageTypes: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/jpg',
  'image/webp',
  'image/gif',
  'image/avif',
  'image/heic',
  'image/heif',
  'application/pdf',
])

/** The largest file that it resizes. */
export const maxImageSourceBytes = 26_214_400
