import { t } from '@lingui/core/macro'

/** Copies text to the clipboard; rejects when the browser denies it. */
export const copyText = async (text: string): Promise<void> => {
  // `navigator.clipboard` exists in secure contexts only. Over plain HTTP the text is selected and copied.
  if (isSecureContext) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  // An open dialog traps the focus, so the text area must be inside it.
  const place = document.activeElement?.closest('[role=dialog]') ?? document.body
  place.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (!isDone) throw new Error(t`The browser blocked access to the clipboard. Select the text and copy it yourself.`)
  return undefined
}
