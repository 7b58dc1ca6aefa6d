import { RpcError } from './rpc.ts'

/** As for lists of the API: a cursor contains the last name of its page, 255 characters of four bytes. */
const maxCursorLength = 4_096

/** Throws Invalid params for a cursor that is not a short string. */
export const cursorOf = ({ cursor }: Record<string, unknown>): string | undefined => {
  if (cursor === undefined) return undefined
  if (typeof cursor === 'string' && cursor.length <= maxCursorLength) return cursor
  throw new RpcError('invalidParams', `params.cursor must be a string of at most ${maxCursorLength} characters.`)
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
