/** An event of `text/event-stream`. */
export interface ServerSentEvent {
  /** The last `id` of the stream; empty before the first one. */
  lastId: string
  /** The `id` of this event; undefined without one. */
  id: string | undefined
  /** The type of the event, by default `message`. */
  name: string
  data: string
  /** How long the server asks to wait before the next connection, in milliseconds. */
  retryMs: number | undefined
}

/** Splits text that arrives in chunks into lines, which end with CR LF, LF or CR. Each character is scanned once. */
const createLineSplitter = () => {
  let rest: string[] = []
  let isAfterCr = false
  return (chunk: string): string[] => {
    const lines: string[] = []
    let from = 0
    const end = /[\r\n]/g
    if (isAfterCr && chunk.startsWith('\n')) from = 1
    if (chunk !== '') isAfterCr = false
    end.lastIndex = from
    for (let found = end.exec(chunk); found; found = end.exec(chunk)) {
      lines.push([...rest, chunk.slice(from, found.index)].join(''))
      rest = []
      from = found.index + 1
      if (found[0] === '\r') {
        if (chunk[from] === '\n') from += 1
        else if (from === chunk.length) isAfterCr = true
        end.lastIndex = from
      }
    }
    if (from < chunk.length) rest.push(chunk.slice(from))
    return lines
  }
}

/** Parses the lines of a stream by section 9.2.6 of the HTML standard. Returns an event when a line completes one. */
const createEventParser = () => {
  let lastId = ''
  let id: string | undefined
  let name = ''
  let retryMs: number | undefined
  let data: string[] = []
  return (line: string): ServerSentEvent | undefined => {
    if (line === '') {
      const event = { lastId, id, name: name === '' ? 'message' : name, data: data.join('\n'), retryMs }
      const isEmpty = data.length === 0
      name = ''
      id = undefined
      data = []
      return isEmpty ? undefined : event
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') data.push(value)
    else if (field === 'event') name = value
    else if (field === 'id' && !value.includes('\0')) lastId = id = value
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value)
    return undefined
  }
}

/**
 * Parses server-sent events until the connection closes. An event without its empty line at the end is dropped. `onBytes`
 * is also called for comments, which servers send to keep the connection open.
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  onBytes?: () => void,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const split = createLineSplitter()
  const parse = createEventParser()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      onBytes?.()
      for (const line of split(decoder.decode(value, { stream: true }))) {
        const event = parse(line)
        if (event) yield event
      }
    }
  } finally {
    // Closes the connection when the caller reads no further.
    await reader.cancel().catch(() => undefined)
  }
}
