import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/**
 * The variables that every process of Node.js needs which a test starts with an environment of its own. Without the
 * compile cache, loading the server or the command takes twice the CPU time.
 */
export const childEnv: Readonly<Record<string, string>> = {
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE:
    process.env['NODE_COMPILE_CACHE'] ?? fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url)),
}

/** The environment of this process for programs that are not ours, whose coverage would take time to write and to read. */
export const foreignEnv: NodeJS.ProcessEnv = { ...process.env, NODE_V8_COVERAGE: undefined }

const read = (path: string): Promise<string> => readFile(`/proc/${path}`, 'latin1').catch(() => '')

/** The ids of this process's children whose command line has `part` in it. Linux only, as /proc is. */
export const childrenWith = async (part: string): Promise<number[]> => {
  const tasks = await readdir(`/proc/${process.pid}/task`)
  const lists = await Promise.all(tasks.map((task) => read(`${process.pid}/task/${task}/children`)))
  const pids = lists.join(' ').split(' ').filter(Boolean).map(Number)
  const commands = await Promise.all(pids.map((pid) => read(`${pid}/cmdline`)))
  return pids.filter((_, index) => commands[index]?.includes(part))
}
