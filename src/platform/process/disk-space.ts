import { statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { serviceUnavailable } from '../http/errors.ts'

export interface DiskState {
  freeBytes: number
  /** Uploads are rejected while less than this is free, so that the database can go on. */
  reserveBytes: number
}

export interface DiskSpace {
  /** What is free, at most a second old. */
  read(): Promise<DiskState>
  /** Rejects with SERVICE_UNAVAILABLE unless so much more can be stored without touching the reserve. */
  require(bytes: number): Promise<void>
  /** Whether next to nothing is free right now; for errors whose cause is in question. */
  isFull(): boolean
}

/** The part of statfs(2) that counts: blocks for ordinary users, their size, and all blocks. */
export interface Blocks {
  bavail: number
  blocks: number
  bsize: number
}

export interface DiskSpaceOptions {
  path: string
  /** The reserve is this, or 2 % of a disk of which that is less; 0 for none. */
  reserveBytes: number
  look?: { later: () => Promise<Blocks>; now: () => Blocks }
  freshMs?: number
}

const reservePart = 0.02
/** PostgreSQL extends its log by 16 MB at a time. */
const fullBytes = 16_777_216
/** Retries within a minute find the same. */
const headers = { 'retry-after': '60' }

/** A write that found no space left. */
export const diskFull = (cause: unknown): Error =>
  serviceUnavailable("The server's disk is full. Nothing was stored. The operator has to free space.", {
    cause,
    headers,
  })

const reserveReached = (): Error =>
  serviceUnavailable("The server's disk is full. Uploads are rejected until the operator frees space.", { headers })

const fullCodes = new Set(['ENOSPC', 'EDQUOT', '53100'])

/** Whether an error says that a disk is full: of the file system, or of PostgreSQL (53100, disk_full). */
export const isDiskFull = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  (('code' in error && fullCodes.has(String(error.code))) ||
    ('cause' in error && error.cause !== error && isDiskFull(error.cause)))

/** Watches the disk under a directory; a look costs 10 µs and is kept for a second. */
export const createDiskSpace = ({
  path,
  reserveBytes,
  look = { later: () => statfs(path), now: () => statfsSync(path) },
  freshMs = 1_000,
}: DiskSpaceOptions): DiskSpace => {
  const stateOf = ({ bavail, blocks, bsize }: Blocks): DiskState => ({
    freeBytes: bavail * bsize,
    reserveBytes: Math.min(reserveBytes, Math.floor(blocks * bsize * reservePart)),
  })
  let last: DiskState | undefined
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let looking: Promise<DiskState> | undefined
  const refresh = async (): Promise<DiskState> => {
    try {
      last = stateOf(await look.later())
      lookedAtMs = performance.now()
      return last
    } finally {
      looking = undefined
    }
  }
  const read = async (): Promise<DiskState> => {
    if (last !== undefined && performance.now() - lookedAtMs < freshMs) return last
    return (looking ??= refresh())
  }
  return {
    read,
    require: async (bytes) => {
      // A disk that does not even tell what is free fails the write itself, with a better reason.
      const state = await read().catch(() => undefined)
      if (state !== undefined && state.freeBytes - bytes < state.reserveBytes) throw reserveReached()
    },
    isFull: () => {
      try {
        return stateOf(look.now()).freeBytes < fullBytes
      } catch {
        return false
      }
    },
  }
}
