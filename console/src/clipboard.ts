/** Puts a text into the clipboard; rejects when the browser refuses. */
export const copyText = async (text: string): Promise<void> => {
  // Only pages with https have the clipboard; others select a text and copy that.
  if (isSecureContext) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  // Within an open dialog, which lets the focus go nowhere else.
  const place = document.activeElement?.closest('[role=dialog]') ?? document.body
  place.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (!isDone) throw new Error('The browser did not copy it.')
  return undefined
}
