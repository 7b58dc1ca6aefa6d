import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { openDiskStore } from './disk.ts'
import type { ObjectStore } from './object-store.ts'

/** The store that the configuration names. */
export const openObjectStore = async (config: Config): Promise<ObjectStore> =>
  openDiskStore(join(config.dataDir, 'objects'))
