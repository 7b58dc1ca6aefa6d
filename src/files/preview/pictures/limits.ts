/**
 * Limits of a picture for a model. Anthropic scales pictures down whose long edge has more than 1,568 pixels, accepts
 * 5 MB of base64 for each and 2,000 x 2,000 pixels when a request has more than 20
 * (https://platform.claude.com/docs/en/build-with-claude/vision). OpenAI scales to 2,048 pixels and accepts 512 MB for a
 * request (https://platform.openai.com/docs/guides/images-vision). Google accepts 20 MB for a request
 * (https://ai.google.dev/gemini-api/docs/image-understanding). So one size fits all of them.
 */
export const limits = {
  sourceBytes: 26_214_400,
  /** Phones take pictures of 50 million pixels. */
  inputPixels: 60_000_000,
  /** The longest edge, in pixels. */
  edge: 1_568,
  outputBytes: 1_048_576,
  /** Quality and longest edge of a JPEG, until the result is small enough. */
  attempts: [
    [85, 1_568],
    [60, 1_568],
    [60, 1_024],
    [40, 768],
  ],
  pdf: {
    /** The longest edge of a rendered page, in pixels. */
    edge: 4_096,
  },
  logo: {
    /** Edges in pixels: of a list on a dense display, and of a page. */
    small: 64,
    large: 256,
    outputBytes: 32_768,
    /** Until the result is small enough: noise of 256 x 256 pixels has 30 KB at quality 60. */
    qualities: [90, 75, 50, 20, 1],
  },
} as const
