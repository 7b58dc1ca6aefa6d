/** Limits of one stream of server-sent events. */
export interface EventStreamLimits {
  /** Bytes of one event, including field names and line breaks. */
  maxEventBytes: number
  maxEvents: number
}

export interface EventParser {
  /** The data of each event that ends in this chunk. Throws an EventStreamError beyond a limit. */
  push(chunk: Uint8Array): string[]
  /** The last event ID of the stream, which resumes it; empty for none. */
  readonly lastEventId: string
  /** The time after which the server wants to be asked again, in milliseconds. */
  readonly retryMs: number | undefined
}

/** The message completes the sentence "The server …". */
export class EventStreamError extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'EventStreamError'
  }
}

const lf = 10
const cr = 13
const colon = 58
const space = 32
const [dataField, idField, retryField] = [Buffer.from('data'), Buffer.from('id'), Buffer.from('retry')]
const firstCapacity = 1_024
/** Longer IDs are ignored: they are sent back in a header. */
const maxIdLength = 1_024

/** The value of a line with a field; undefined for every other field and for comments. */
const valueOf = (line: Buffer, field: Buffer): string | undefined => {
  const { length } = field
  if (line.length < length || field.compare(line, 0, length) !== 0) return undefined
  if (line.length === length) return ''
  if (line[length] !== colon) return undefined
  return line.toString('utf8', line[length + 1] === space ? length + 2 : length + 1)
}

/**
 * Parses server-sent events (WHATWG HTML, section 9.2) from bytes. Each byte is visited once, whatever the size of the
 * chunks: joining the chunks and splitting them again would take quadratic time.
 */
export const createEventParser = ({ maxEventBytes, maxEvents }: EventStreamLimits): EventParser => {
  let line = Buffer.allocUnsafe(firstCapacity)
  let lineLength = 0
  let eventBytes = 0
  let events = 0
  let data: string[] = []
  let isAfterCr = false
  let newId: string | undefined
  let lastEventId = ''
  let retryMs: number | undefined

  const append = (chunk: Uint8Array, from: number, to: number): void => {
    const length = lineLength + to - from
    eventBytes += to - from
    if (eventBytes > maxEventBytes) throw new EventStreamError(`sent an event of more than ${maxEventBytes} bytes`)
    if (length > line.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, line.length * 2))
      line.copy(grown, 0, 0, lineLength)
      line = grown
    }
    line.set(chunk.subarray(from, to), lineLength)
    lineLength = length
  }
  const endLine = (found: string[]): void => {
    if (lineLength === 0) {
      if (data.length > 0) {
        if (++events > maxEvents) throw new EventStreamError(`sent more than ${maxEvents} events`)
        found.push(data.join('\n'))
      }
      data = []
      eventBytes = 0
      // An ID counts from the end of its event, so that an event that was cut off is sent again.
      lastEventId = newId ?? lastEventId
      return
    }
    // Line breaks count: an event with a million empty `data` lines has a million entries.
    eventBytes += 1
    readLine(line.subarray(0, lineLength))
    lineLength = 0
  }
  const readLine = (whole: Buffer): void => {
    const value = valueOf(whole, dataField)
    if (value !== undefined) data.push(value)
    const id = whole.length > maxIdLength ? undefined : valueOf(whole, idField)
    if (id !== undefined && !id.includes('\0')) newId = id
    const [retry] = /^\d{1,9}$/.exec(valueOf(whole.subarray(0, 32), retryField) ?? '') ?? []
    if (retry !== undefined) retryMs = Number(retry)
  }

  return {
    push: (chunk) => {
      const found: string[] = []
      let from = 0
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at]
        if (byte !== lf && byte !== cr) {
          isAfterCr = false
          continue
        }
        // The LF of CR LF, which may be in another chunk.
        const isSecondHalf = byte === lf && isAfterCr
        isAfterCr = byte === cr
        if (!isSecondHalf) {
          append(chunk, from, at)
          endLine(found)
        }
        from = at + 1
      }
      append(chunk, from, chunk.length)
      return found
    },
    get lastEventId() {
      return lastEventId
    },
    get retryMs() {
      return retryMs
    },
  }
}
