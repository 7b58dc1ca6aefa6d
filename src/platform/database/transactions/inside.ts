import { AsyncLocalStorage } from 'node:async_hooks'

/** Set while the callback of a transaction runs, and in everything that it starts. */
export const insideTransaction = new AsyncLocalStorage<true>()

export const assertNoTransaction = (): void => {
  if (insideTransaction.getStore()) {
    throw new Error('the pool was used while a transaction is open: use the transaction instead')
  }
}
