import { i18n } from '@lingui/core'
import type { MessageDescriptor } from '@lingui/core'

/** A text in the language of the console, or a message of `msg`, for constants: they are made before the language is known. */
export type Text = string | MessageDescriptor

export const textOf = (text: Text): string => (typeof text === 'string' ? text : i18n._(text))
