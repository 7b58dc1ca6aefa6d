import type { KeyboardEvent } from 'react'

/**
 * Whether a key belongs to an input method: Enter accepts its suggestion, and Escape dismisses it. Safari ends the
 * composition before the event of the key, which then has the code 229 (UI Events, 5.2.2).
 */
export const isComposing = ({ nativeEvent }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || nativeEvent.keyCode === 229
