import { join } from 'node:path'
import { openDiskStore } from './disk.ts'
import type { DiskSpace } from '../process/disk-space.ts'
import type { ObjectStore } from './object-store.ts'
import type { S3Settings } from './s3.ts'

export interface ObjectStoreSettings {
  dataDir: string
  /** Undefined: objects are stored in files under `dataDir`. */
  s3: S3Settings | undefined
}

export const openObjectStore = async (
  { dataDir, s3 }: ObjectStoreSettings,
  space?: DiskSpace,
): Promise<ObjectStore> => {
  if (s3 === undefined) return openDiskStore(join(dataDir, 'objects'), space)
  // The S3 client uses 40 MB of memory and 100 ms to load, so a server with a local disk does not load it.
  const { openS3Store } = await import('./s3.ts')
  return openS3Store(s3)
}
