/** Matches the paths of a route. */
export const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll(/:[A-Za-z]+/g, '[^/]+')
      .replaceAll('*', '.*')}$`,
  )

const isDecodable = (path: string): boolean => {
  if (path.includes('%00')) return false
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/**
 * Escapes the percent signs of a path that cannot be decoded (`%`, `%zz`, `%ff`) or contains NUL. The router then finds
 * the matching route, which authenticates the caller before it returns NOT_FOUND.
 */
export const decodable = (url: string): string => {
  if (!url.includes('%')) return url
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  return isDecodable(path) ? url : path.replaceAll('%', '%25') + url.slice(path.length)
}
