// Made from src/files/preview/pictures by `npm run generate`.

/** The types of which the server makes images in other sizes. Of a PDF, it shows the first page. */
export const imageTypes: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/jpg',
  'image/webp',
  'image/gif',
  'image/avif',
  'application/pdf',
])

/** The largest file of which it makes images. */
export const maxImageSourceBytes = 26_214_400
