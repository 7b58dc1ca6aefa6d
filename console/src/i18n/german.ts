// All areas in one chunk, which only browsers in German load.
import type { Messages } from '@lingui/core'

const catalogs = import.meta.glob<Messages>('../../locales/de/*.po', { eager: true, import: 'messages' })

export const messages: Messages = Object.assign({}, ...Object.values(catalogs))

export { translateApiText } from './api-texts.ts'
