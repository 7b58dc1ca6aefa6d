const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined

/**
 * Whether a request of the revision 0.3 names several authentication schemes for one credential. The library would keep
 * the first one and print all of them, whatever the client wrote, to the output of the server.
 */
export const hasSeveralSchemes = (body: unknown): boolean => {
  const params = fieldOf(body, 'params')
  return [params, fieldOf(params, 'configuration')].some((holder) => {
    const schemes = fieldOf(fieldOf(fieldOf(holder, 'pushNotificationConfig'), 'authentication'), 'schemes')
    return Array.isArray(schemes) && schemes.length > 1
  })
}
