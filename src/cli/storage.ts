import { labelled } from './command.ts'
import type { Command, CommandContext, Output } from './command.ts'
import { openObjectStore } from '../platform/object-store/open.ts'
import { adoptStore, locationOf } from '../platform/object-store/registration.ts'
import { countConnections } from './doctor-queries.ts'
import { plural } from '../platform/text/plural.ts'
import { StartError } from '../platform/process/start-error.ts'
import { prepareDataDir } from '../platform/postgres/data-dir.ts'

const adopt = async ({ config, db }: CommandContext, force: boolean): Promise<Output> => {
  const others = force ? 0 : await countConnections(db, process.uptime())
  if (others > 0) {
    throw new StartError(
      `Atrium is running on this database (${plural(others, 'connection')}).`,
      'Stop all its processes first: they would go on with the previous store. If the connections are those of a pooler, add --force.',
    )
  }
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
    options: { force: { value: '', description: 'also while connections of Atrium are open' } },
    details:
      'Run it after the files were moved or the previous store was lost, with all processes stopped. Processes with the\nprevious store do not start any more. It copies no files.',
    needs: 'database',
    run: (context, { options }) => adopt(context, options['force'] !== undefined),
  },
]
