/** A reason not to start, written for the person at the terminal: one line, and one on what to do about it. */
export class StartError extends Error {
  readonly hint: string | undefined

  constructor(message: string, hint?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartError'
    this.hint = hint
  }
}
