import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { openDiskStore } from './disk.ts'
import type { DiskSpace } from '../process/disk-space.ts'
import type { ObjectStore } from './object-store.ts'

/** The store that the configuration names. */
export const openObjectStore = async (config: Config, space?: DiskSpace): Promise<ObjectStore> => {
  if (config.s3 === undefined) return openDiskStore(join(config.dataDir, 'objects'), space)
  // The S3 client takes 40 MB of memory and 100 ms, which a server with a disk does not have to pay.
  const { openS3Store } = await import('./s3.ts')
  return openS3Store(config.s3)
}
