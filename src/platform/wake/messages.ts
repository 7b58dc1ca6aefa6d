import { maxPayloadBytes } from './transport.ts'

/** Longer hints are bugs or attacks; the longest real one contains two UUIDs. */
const maxHintLength = 200
const maxHints = 2_000

/** The hints of one topic as payloads: JSON arrays of the sender's id and the hints, each below the limit of NOTIFY. */
export const encodeHints = (sender: string, hints: Iterable<string>): string[] => {
  const payloads: string[] = []
  const head = JSON.stringify(sender)
  let text = ''
  for (const hint of hints) {
    const json = JSON.stringify(hint)
    if (Buffer.byteLength(json) > maxHintLength) continue
    if (text !== '' && head.length + text.length + json.length + 3 > maxPayloadBytes) {
      payloads.push(`[${head}${text}]`)
      text = ''
    }
    text += `,${json}`
  }
  if (text !== '') payloads.push(`[${head}${text}]`)
  return payloads
}

const isHint = (value: unknown): value is string => typeof value === 'string' && value.length <= maxHintLength

/** Undefined for anything but an array of short strings: other programs may write to the same channel. */
export const decodeHints = (payload: string): { sender: string; hints: string[] } | undefined => {
  let parsed: unknown
  try {
    parsed = JSON.parse(payload)
  } catch {
    return undefined
  }
  if (!Array.isArray(parsed) || parsed.length > maxHints || !parsed.every(isHint)) return undefined
  const [sender, ...hints] = parsed
  return sender === undefined ? undefined : { sender, hints }
}
