// What a browser remembers of unfinished uploads, to continue them after a pause or a reload.
const storagePrefix = 'atrium.upload.'
/** The server deletes an upload at the latest after this time. */
const keptMs = 7 * 86_400_000

export interface ResumableFile {
  file: File
  mimeType: string
  parentId: string | null
  headers: Record<string, string>
}

/** The URLs of the uploads of this tab, by fingerprint. */
const urls = new Map<string, string>()
/** Fingerprints of running uploads. */
export const active = new Set<string>()

/** What identifies a file that a person chooses again. Hashed, because other people who use this browser can see it. */
export const fingerprintOf = async ({ file, parentId, headers }: ResumableFile): Promise<string> => {
  const text = JSON.stringify([file.name, file.size, file.lastModified, parentId, headers['x-org-id'] ?? null])
  // Browsers have no digest on pages without TLS. Such an upload cannot be continued after a reload.
  const { subtle } = crypto as { subtle?: SubtleCrypto }
  if (!subtle) return `memory ${text}`
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

export const forget = (fingerprint: string): void => {
  urls.delete(fingerprint)
  try {
    localStorage.removeItem(storagePrefix + fingerprint)
  } catch {
    // Nothing was stored.
  }
}

/** Removes what is remembered of uploads that the server has deleted. */
const forgetOld = (): void => {
  for (const key of Object.keys(localStorage).filter((one) => one.startsWith(storagePrefix))) {
    const [time] = (localStorage.getItem(key) ?? '').split(' ')
    if (Date.now() - Number(time) > keptMs) localStorage.removeItem(key)
  }
}

export const remember = (fingerprint: string, url: string): void => {
  urls.set(fingerprint, url)
  if (fingerprint.startsWith('memory ')) return
  try {
    forgetOld()
    localStorage.setItem(storagePrefix + fingerprint, `${Date.now()} ${url}`)
  } catch {
    // Without storage the upload cannot be continued after a reload.
  }
}

/** The URL of an upload that was begun, when it starts with a path. */
export const recall = (fingerprint: string, path: string): string | undefined => {
  const known = urls.get(fingerprint)
  if (known !== undefined) return known.startsWith(path) ? known : undefined
  try {
    const [, url] = (localStorage.getItem(storagePrefix + fingerprint) ?? '').split(' ')
    return url?.startsWith(path) === true ? url : undefined
  } catch {
    return undefined
  }
}
