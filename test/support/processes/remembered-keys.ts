import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { after } from 'node:test'

/**
 * Computes the key of a password and a salt once, until the end of the test file. For files that send the same passwords
 * over and over again: each key takes 90 ms of CPU time. The same password with another salt is computed again.
 */
export const rememberKeys = (): void => {
  const { scrypt } = crypto
  const known = new Map<string, Buffer>()
  const remembering = (...[password, salt, length, options, done]: Parameters<typeof scrypt>): void => {
    if (typeof password !== 'string' || typeof salt !== 'string') return scrypt(password, salt, length, options, done)
    const inputs = JSON.stringify([password, salt, length, options])
    const key = known.get(inputs)
    if (key !== undefined) return void setImmediate(done, null, Buffer.from(key))
    scrypt(password, salt, length, options, (error, computed) => {
      if (error === null) known.set(inputs, Buffer.from(computed))
      done(error, computed)
    })
  }
  crypto.scrypt = remembering as typeof scrypt
  syncBuiltinESMExports()
  after(() => {
    crypto.scrypt = scrypt
    syncBuiltinESMExports()
  })
}
