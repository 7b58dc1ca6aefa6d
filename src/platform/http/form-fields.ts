/**
 * The maximum number of fields in a form. Providers send a few dozen at most, and URLSearchParams needs 2.7 s for one
 * megabyte of fields.
 */
export const maxFormFields = 1_000

const ampersand = 38

/** The fields of a body of `application/x-www-form-urlencoded`; undefined when there are more than `maxFormFields`. */
export const parseFormFields = (body: Buffer): URLSearchParams | undefined => {
  let separators = 0
  for (let at = body.indexOf(ampersand); at !== -1; at = body.indexOf(ampersand, at + 1)) {
    separators += 1
    if (separators >= maxFormFields) return undefined
  }
  return new URLSearchParams(body.toString('utf8'))
}
