import type { Access } from './provider.ts'

const mark = '[redacted]'
/** Shorter ones are in every other word. */
const minLength = 6

const secretValues = ({ connector: { auth, api }, secrets }: Omit<Access, 'orgId'>): string[] => {
  const hidden =
    auth.type === 'api_key' ? new Set(auth.fields.filter((field) => field.secret).map(({ key }) => key)) : undefined
  const values = Object.entries(secrets)
    .filter(([key]) => hidden?.has(key) ?? true)
    .map(([, value]) => value)
  if (api.basic === undefined) return values
  const [user, password] = api.basic.map((part) =>
    part.replaceAll(/\{(\w+)\}/g, (_, key: string) => secrets[key] ?? ''),
  )
  return [...values, Buffer.from(`${user}:${password}`).toString('base64')]
}

const formsOf = (value: string): string[] => {
  // `Bearer abc` is as secret as abc.
  const bare = value.replace(/^(?:Bearer|Basic|Token)\s+/i, '')
  return [value, bare].flatMap((text) => [
    text,
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString('base64'),
  ])
}

/** Cuts the connection's secrets out of what a provider says, in every form in which they usually come back. */
export const createScrubber = (access: Omit<Access, 'orgId'>): ((text: string) => string) => {
  const forms = new Set(secretValues(access).flatMap(formsOf))
  const sorted = [...forms].filter((form) => form.length >= minLength).toSorted((a, b) => b.length - a.length)
  return (text) => sorted.reduce((clean, form) => clean.replaceAll(form, mark), text)
}
