/** An event of `text/event-stream`. */
export interface ServerSentEvent {
  /** Empty without an `id` field. */
  id: string
  name: string
  data: string
}

const parse = (block: string): ServerSentEvent | undefined => {
  const lines = block.split('\n')
  const field = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const data = field('data')
  return data === undefined ? undefined : { id: field('id') ?? '', name: field('event') ?? 'message', data }
}

/**
 * Parses server-sent events of Atrium, which have one `data` line each; ends when the connection closes. `onBytes` is
 * also called for comments, which are sent to keep the connection open.
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  onBytes?: () => void,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    onBytes?.()
    const blocks = (rest + value).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = parse(block)
      if (event) yield event
    }
  }
}
