// The lines between the server and the process that validates replies.

/** CPU time of one validation. The schema may contain regular expressions that take exponential time. */
export const validationMs = 200
export const heapMegabytes = 64

export interface OutputQuestion {
  schema: Record<string, unknown>
  text: string
}

/** `mistakes`: what does not match, at most ten; none when the text is valid. */
export interface OutputReply {
  mistakes: string[]
}
