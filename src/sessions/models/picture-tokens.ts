interface Size {
  width: number
  height: number
}

/** The squares of `edge` pixels that cover a picture. */
const squares = ({ width, height }: Size, edge: number): number => Math.ceil(width / edge) * Math.ceil(height / edge)

/** https://platform.claude.com/docs/en/build-with-claude/vision: an approximation of the area by 750. */
const anthropicTokens = ({ width, height }: Size): number => Math.ceil((width * height) / 750)

/**
 * https://developers.openai.com/api/docs/guides/images-vision. Newer models count squares of 32 pixels, with a factor that
 * depends on the model and is at most 2.46. Older ones scale the shorter edge to 768 pixels and count squares of 512.
 */
const openAiTokens = (name: string, size: Size): number => {
  const scale = Math.min(1, 768 / Math.min(size.width, size.height))
  const tiles = squares({ width: size.width * scale, height: size.height * scale }, 512)
  if (name.includes('gpt-4o-mini')) return 2_833 + 5_667 * tiles
  const factor = /nano/.test(name) ? 2.46 : /mini/.test(name) ? 1.72 : 1.2
  return Math.max(Math.ceil(squares(size, 32) * factor), 85 + 170 * tiles)
}

/** https://ai.google.dev/gemini-api/docs/image-understanding and …/media-resolution: 258 for each 768 pixels, or 1,120. */
const googleTokens = (size: Size): number => Math.max(1_120, 258 * squares(size, 768))

/** Servers of open models: up to four squares of 560 pixels with 1,601 tokens each, the most that one documents. */
const otherTokens = (size: Size): number => 1_601 * Math.min(4, squares(size, 560))

const besides = 50

/**
 * The tokens of a picture, estimated by the name of the model because a gateway may offer any. Rather too many than too
 * few, because the money for a call is reserved by it; the tokens that the provider reports are charged.
 */
export const pictureTokens = (modelId: string, size: Size): number => {
  const name = modelId.toLowerCase()
  if (name.includes('claude')) return besides + anthropicTokens(size)
  if (name.includes('gemini')) return besides + googleTokens(size)
  if (/(^|[/-])(gpt-|chatgpt|o\d)/.test(name)) return besides + openAiTokens(name, size)
  return besides + otherTokens(size)
}

/** A page of a PDF is read as its text and as a picture. */
const page: Size = { width: 1_216, height: 1_568 }

export const pdfTokens = (modelId: string, pages: number, textTokens: number): number =>
  textTokens + pages * pictureTokens(modelId, page)
