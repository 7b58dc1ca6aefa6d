// A worker that reads one text after another. It first reports that it has started.
import { lex } from './lex.ts'
import type { Lexed } from './lex.ts'

export type WorkerMessage = 'ready' | { lexed: Lexed }

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- only messages to windows have one
const send = (message: WorkerMessage): void => globalThis.postMessage(message)

globalThis.addEventListener('message', ({ data }: MessageEvent<string>) => send({ lexed: lex(data) }))
send('ready')
