/** The parameters of a `Bearer` challenge (RFC 6750 and RFC 9728) that a client of an MCP server uses. */
export interface Challenge {
  /** URL of the protected resource metadata. */
  resourceMetadata?: string
  scope?: string
  error?: string
}

const maxLength = 8_192
const maxScopeLength = 2_000
/** RFC 6749, 3.3: printable ASCII without quotes and backslashes. */
const scopeFormat = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

const parameterOf = (header: string, name: string): string | undefined => {
  const match = new RegExp(String.raw`(?:^|[\s,])${name}\s*=\s*(?:"([^"\\]*)"|([^\s",]+))`, 'i').exec(header)
  return match?.[1] ?? match?.[2]
}

/** A scope that can be sent in a request. Undefined for an empty one and for text that is none. */
export const cleanScope = (scope: unknown): string | undefined => {
  if (typeof scope !== 'string' || scope.length > maxScopeLength || !scopeFormat.test(scope)) return undefined
  return (
    scope
      .split(' ')
      .filter((one) => one !== '')
      .join(' ') || undefined
  )
}

/** Each scope of both once. */
export const joinScopes = (one: string | undefined, other: string | undefined): string | undefined =>
  cleanScope([...new Set(`${one ?? ''} ${other ?? ''}`.split(' '))].join(' '))

/** Reads a `WWW-Authenticate` header. Everything that is not understood is left out. */
export const parseChallenge = (header: string | null): Challenge => {
  if (header === null || header.length > maxLength || !/(?:^|,\s*)bearer\b/i.test(header)) return {}
  const resourceMetadata = parameterOf(header, 'resource_metadata')
  const scope = cleanScope(parameterOf(header, 'scope'))
  const error = parameterOf(header, 'error')
  return {
    ...(resourceMetadata === undefined ? {} : { resourceMetadata }),
    ...(scope === undefined ? {} : { scope }),
    ...(error === undefined ? {} : { error }),
  }
}
