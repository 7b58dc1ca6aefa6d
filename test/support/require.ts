import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/**
 * Whether a dependency that npm does not install (an S3 store, Redis, a mount) is available. If it is missing, the summary
 * of the run names it and how to install it. The test fails instead when ATRIUM_TEST_REQUIRE contains its name.
 */
export const available = async (
  name: string,
  check: () => Promise<boolean> | boolean,
  installHint: string,
): Promise<boolean> => {
  if (await check()) return true
  const line = `left out: ${name} (to run it: ${installHint})`
  const required = (process.env['ATRIUM_TEST_REQUIRE'] ?? '').split(',').map((one) => one.trim())
  if (required.includes(name)) throw new Error(`ATRIUM_TEST_REQUIRE names ${name}, but it would be ${line}`)
  console.log(line)
  return false
}

/** The path of an installed program, or undefined. */
export const onPath = (program: string, more: readonly string[] = []): Promise<string | undefined> =>
  Promise.any(
    [...(process.env['PATH'] ?? '').split(delimiter), ...more].map(async (folder) => {
      const path = join(folder, program)
      await access(path)
      return path
    }),
  ).catch(() => undefined)
