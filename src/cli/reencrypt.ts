import type { Command, CommandContext, Output } from './command.ts'
import { plural } from '../platform/text/plural.ts'
import { openSecrets } from '../platform/encryption/keys.ts'
import { reencrypt } from '../platform/encryption/reencrypt.ts'
import { prepareDataDir } from '../platform/postgres/data-dir.ts'
import { sealedColumns } from '../sealed-columns.ts'

const reencryptAll = async ({ config, db }: CommandContext): Promise<Output> => {
  // Without ENCRYPTION_KEYS, the keys are in the data directory.
  await prepareDataDir(config.dataDir)
  const sealer = await openSecrets(db, config)
  const { columns, isComplete } = await reencrypt(db, sealer, sealedColumns)
  const count = (of: 'resealed' | 'unreadable'): number => columns.reduce((sum, column) => sum + column[of], 0)
  const outcome = isComplete
    ? 'No value needs the other keys: you can remove them.'
    : `${plural(count('unreadable'), 'value')} cannot be decrypted with any key. Keep the other keys and run the command again.`
  return {
    json: { currentKeyId: sealer.currentKeyId, columns, isComplete },
    lines: [`Encrypted ${plural(count('resealed'), 'value')} with the key ${sealer.currentKeyId}. ${outcome}`],
    ok: isComplete,
  }
}

export const reencryptCommand: Command = {
  words: 'reencrypt',
  summary: 'Encrypt every stored secret with the first key of ENCRYPTION_KEYS',
  options: {},
  details: 'Servers can keep running. Afterwards you can remove the other keys.',
  needs: 'database',
  run: reencryptAll,
}
