import { readFile, readdir } from 'node:fs/promises'

const read = (path: string): Promise<string> => readFile(`/proc/${path}`, 'latin1').catch(() => '')

/** The ids of this process's children whose command line has `part` in it. Linux only, as /proc is. */
export const childrenWith = async (part: string): Promise<number[]> => {
  const tasks = await readdir(`/proc/${process.pid}/task`)
  const lists = await Promise.all(tasks.map((task) => read(`${process.pid}/task/${task}/children`)))
  const pids = lists.join(' ').split(' ').filter(Boolean).map(Number)
  const commands = await Promise.all(pids.map((pid) => read(`${pid}/cmdline`)))
  return pids.filter((_, index) => commands[index]?.includes(part))
}
