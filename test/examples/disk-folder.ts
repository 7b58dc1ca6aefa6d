import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

/**
 * A folder that is deleted after the tests of the file. On a disk: `tmpdir()` may be in memory during tests, which hundreds
 * of megabytes of packages would fill.
 */
export const makeDiskFolder = async (name: string): Promise<string> => {
  const folder = await mkdtemp(join(existsSync('/var/tmp') ? '/var/tmp' : tmpdir(), `atrium-${name}-`))
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}
