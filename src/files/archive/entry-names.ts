import { cutToBytes } from '../preview/formats/text.ts'
import { deceptive, nameKeyOf } from '../tree/names.ts'

/** Most file systems of Linux store names of up to 255 bytes. The rest is for the number of a duplicate. */
const nameBytes = 240
const extensionBytes = 24

// Not allowed in Windows: https://learn.microsoft.com/windows/win32/fileio/naming-a-file. `/` and `\` would be folders.
const unsafe = /[<>:"/\\|?*]/g
const reserved = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:[ .]|$)/i

const splitName = (name: string): [base: string, extension: string] => {
  const at = name.lastIndexOf('.')
  if (at <= 0 || Buffer.byteLength(name.slice(at)) > extensionBytes) return [name, '']
  return [name.slice(0, at), name.slice(at)]
}

/**
 * A name that every system can extract: without separators and characters that Windows does not allow, not `..`, not the
 * name of a device, and of at most 240 bytes. Its extension stays.
 */
export const safeNameOf = (name: string): string => {
  // Windows drops dots and spaces at the end, so that `..` and `a.` would be other names.
  const replaced = name
    .replaceAll(deceptive, '_')
    .replaceAll(unsafe, '_')
    .replace(/[. ]+$/, (end) => '_'.repeat(end.length))
  const named = reserved.test(replaced) ? `_${replaced}` : replaced
  if (Buffer.byteLength(named) <= nameBytes) return named
  const [base, extension] = splitName(named)
  return cutToBytes(base, nameBytes - Buffer.byteLength(extension)) + extension
}

/** Gives each name of a folder once: `a.txt`, `a (2).txt`. Letter case does not distinguish them. */
export const createNames = (): ((name: string) => string) => {
  const used = new Map<string, number>()
  return (name) => {
    const safe = safeNameOf(name)
    const key = nameKeyOf(safe)
    let number = used.get(key) ?? 0
    if (number === 0) {
      used.set(key, 1)
      return safe
    }
    const [base, extension] = splitName(safe)
    for (;;) {
      number += 1
      const numbered = `${base} (${number})${extension}`
      const numberedKey = nameKeyOf(numbered)
      if (used.has(numberedKey)) continue
      used.set(numberedKey, 1)
      used.set(key, number)
      return numbered
    }
  }
}
