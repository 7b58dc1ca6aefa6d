import { replaceAllLinear } from '../../platform/text/replace-all.ts'
import type { Access } from './access.ts'

const mark = '[redacted]'
/** Shorter secrets would match parts of ordinary words. */
const minLength = 6

const secretValues = ({ connector: { auth, api }, secrets }: Omit<Access, 'orgId'>): string[] => {
  const fields = auth.type === 'api_key' ? auth.fields : []
  const publicKeys = new Set(fields.filter((field) => !field.secret).map(({ key }) => key))
  const values = Object.entries(secrets)
    .filter(([key]) => !publicKeys.has(key))
    .map(([, value]) => value)
  if (api.basic === undefined) return values
  const [user, password] = api.basic.map((part) =>
    part.replaceAll(/\{(\w+)\}/g, (_, key: string) => secrets[key] ?? ''),
  )
  return [...values, Buffer.from(`${user}:${password}`).toString('base64')]
}

const encodingsOf = (value: string): string[] => {
  // The token without its scheme is as secret as `Bearer <token>`.
  const token = value.replace(/^(?:Bearer|Basic|Token)\s+/i, '')
  return [value, token].flatMap((text) => [
    text,
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString('base64'),
  ])
}

/** Redacts the connection's secrets in provider responses: plain, URL-encoded, JSON-escaped and in base64. */
export const createScrubber = (access: Omit<Access, 'orgId'>): ((text: string) => string) => {
  const encodings = new Set(secretValues(access).flatMap(encodingsOf))
  const longestFirst = [...encodings].filter((text) => text.length >= minLength).toSorted((a, b) => b.length - a.length)
  return (text) => longestFirst.reduce((clean, secret) => replaceAllLinear(clean, secret, mark), text)
}
