/** Signals between the modules of a process after a commit. They are hints: the database decides. */
export interface Signals {
  signal(topic: string, key: string): void
  onSignal(topic: string, listener: (key: string) => void): void
}

export const createSignals = (): Signals => {
  const listeners = new Map<string, ((key: string) => void)[]>()
  return {
    signal: (topic, key) => {
      for (const listener of listeners.get(topic) ?? []) listener(key)
    },
    onSignal: (topic, listener) => {
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener])
    },
  }
}
