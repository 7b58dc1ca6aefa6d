import { useEffect, useState } from 'react'
import { useConstant } from '../../../stable-values.ts'
import { lex } from './lex.ts'
import type { Lexed } from './lex.ts'
import { cancelLex, lexLater, rememberedOf } from './lex-queue.ts'

// Reading takes time that grows with the square of the length of a paragraph.
const maxQuickLength = 8_000
const maxQuickRun = 2_000

const isQuick = (text: string): boolean =>
  text.length <= maxQuickLength && text.split(/\n[ \t]*\n/).every(({ length }) => length <= maxQuickRun)

const lexNow = (text: string): Lexed | undefined => (isQuick(text) ? lex(text) : rememberedOf(text))

interface Result {
  text: string
  lexed: Lexed | undefined
}

/**
 * The blocks of a Markdown text. Undefined when it is to be shown as it is. While a long text is read, the blocks are
 * those of its beginning if that was shown before.
 */
export const useLexed = (text: string): readonly string[] | undefined => {
  const owner = useConstant({})
  const [result, setResult] = useState<Result>(() => ({ text, lexed: lexNow(text) }))
  let shown = result
  if (shown.text !== text) {
    const lexed = lexNow(text)
    if (lexed !== undefined) {
      shown = { text, lexed }
      setResult(shown)
    }
  }
  const isLexed = shown.text === text && shown.lexed !== undefined
  useEffect(() => {
    if (isLexed) cancelLex(owner)
    else lexLater(owner, { text, onLexed: setResult })
  }, [owner, text, isLexed])
  useEffect(() => () => cancelLex(owner), [owner])
  if (shown.lexed === 'plain' || !text.startsWith(shown.text)) return undefined
  return shown.lexed
}
