/** A message of at most `maxPayloadBytes` for all processes that listen to the channel. */
export interface WakeMessage {
  channel: string
  payload: string
}

export interface TransportOptions {
  channels: string[]
  onMessage: (message: WakeMessage) => void
  /** The transport has connected, or connected again: messages may have been lost. */
  onConnected: () => void
  /** Called for each failure. The transport reconnects on its own, with increasing delays. */
  onError: (error: unknown) => void
}

/** Carries messages between processes, at most once. */
export interface WakeTransport {
  /** Connects in the background and until `close`. */
  open(options: TransportOptions): void
  /** Rejects when the messages could not be sent. They are not sent again. */
  send(messages: WakeMessage[]): Promise<void>
  /** Drops a connection that is open but carries nothing, and connects again. Does nothing while it connects. */
  reconnect(): void
  close(): Promise<void>
}

/** Below the 8,000 bytes of a PostgreSQL notification. */
export const maxPayloadBytes = 7_900
