// The lines between the server and the process that evaluates transforms.

/** Of an expression, in characters. */
export const maxTransformLength = 8_192
/** Of a result as JSON in UTF-8: the limit of the contents of events, see `maxExpandedBytes`. */
export const maxResultBytes = 1_500_000

/** CPU time of one evaluation. */
export const evaluationMs = 50
export const heapMegabytes = 32

export interface TransformQuestion {
  /** Realms are not shared between keys. */
  key: string
  transform: string
  /** The event as JSON. Null: check the syntax only. */
  event: string | null
}

export interface TransformFault {
  /** The code of JSONata; null: not an error of JSONata. */
  code: string | null
  /** In characters of the expression, from 1. Null: unknown. */
  position: number | null
  /** With values of the event: only for somebody who knows the event. */
  message: string
}

/** `body`: the result as JSON; null: the syntax is valid. */
export type TransformReply = { body: string | null } | { fault: TransformFault }
