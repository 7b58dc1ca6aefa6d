import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The path of an installed program, or undefined. */
export const onPath = (program: string, more: readonly string[] = []): Promise<string | undefined> =>
  Promise.any(
    [...(process.env['PATH'] ?? '').split(delimiter), ...more].map(async (folder) => {
      const path = join(folder, program)
      await access(path)
      return path
    }),
  ).catch(() => undefined)
