/**
 * The official library, which reads and writes the messages of the revisions 1.0 and 0.3. It is loaded with the first
 * request, because it uses memory that most servers do not need.
 */
export const loadSdk = async () => {
  const [server, legacy, errors] = await Promise.all([
    import('@a2a-js/sdk/server'),
    import('@a2a-js/sdk/compat/v0_3/server'),
    import('@a2a-js/sdk/errors'),
  ])
  return { ...server, ...legacy, errors }
}

export type Sdk = Awaited<ReturnType<typeof loadSdk>>

/** Parameters that break a rule: −32602. */
export const malformed = ({ errors }: Sdk, message: string): Error => new errors.RequestMalformedError({ message })
