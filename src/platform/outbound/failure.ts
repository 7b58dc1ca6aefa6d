/** Why there is no response. */
export type OutboundFailure =
  | 'invalid_url'
  | 'blocked'
  | 'dns_error'
  | 'connection_refused'
  | 'connection_reset'
  | 'tls_error'
  | 'timeout'
  | 'network_error'

/** The message may be shown to the user who named the URL, so it contains nothing about the internal network. */
export class OutboundError extends Error {
  readonly reason: OutboundFailure

  constructor(reason: OutboundFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OutboundError'
    this.reason = reason
  }
}
