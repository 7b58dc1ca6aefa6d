import { labelled } from './command.ts'
import type { Command, CommandContext, Output } from './command.ts'
import { openObjectStore } from '../platform/object-store/open.ts'
import { adoptStore, locationOf } from '../platform/object-store/registration.ts'
import { prepareDataDir } from '../platform/postgres/data-dir.ts'

const adopt = async ({ config, db }: CommandContext): Promise<Output> => {
  const settings = {
    ...config,
    dataDir: config.s3 === undefined ? await prepareDataDir(config.dataDir) : config.dataDir,
  }
  const location = locationOf(settings)
  const previous = await adoptStore(db, { objects: await openObjectStore(settings), location })
  return {
    json: { location, previous },
    lines: labelled([
      ['Object store', location],
      ['Previously', previous ?? 'none'],
    ]),
  }
}

/** The command that accepts another object store. */
export const storageCommands: Command[] = [
  {
    words: 'storage adopt',
    summary: 'Register the configured object store as the one of this database',
    options: {},
    details:
      'Run it after the files were moved or the previous store was lost, with all processes stopped. Processes with the\nprevious store do not start any more. It copies no files.',
    needs: 'database',
    run: adopt,
  },
]
