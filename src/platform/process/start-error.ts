/** An error that prevents the start. `message` is one line for the operator, `hint` one on what to do. */
export class StartError extends Error {
  readonly hint: string | undefined

  constructor(message: string, hint?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartError'
    this.hint = hint
  }
}
