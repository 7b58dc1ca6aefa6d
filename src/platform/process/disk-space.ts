import { statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { serviceUnavailable } from '../http/errors.ts'

export interface DiskState {
  freeBytes: number
  /** Uploads are rejected while less than this is free, so that the database can continue. */
  reserveBytes: number
}

export interface DiskSpace {
  /** The free space, at most one second old. */
  read(): Promise<DiskState>
  /** Rejects with SERVICE_UNAVAILABLE unless this many bytes can be stored without using the reserve. */
  require(bytes: number): Promise<void>
  /** Whether the disk is full, to find the cause of another error. */
  isFull(): boolean
}

/** From statfs(2): available blocks for ordinary users, their size, and all blocks. */
export interface Blocks {
  bavail: number
  blocks: number
  bsize: number
}

export interface DiskSpaceOptions {
  path: string
  /** The reserve is this or 2 % of the disk, whichever is less; 0 for none. */
  reserveBytes: number
  look?: { later: () => Promise<Blocks>; now: () => Blocks }
  freshMs?: number
}

const reservePart = 0.02
/** PostgreSQL extends its write-ahead log by 16 MB at a time. */
const fullBytes = 16_777_216
/** A retry within a minute is unlikely to succeed. */
const headers = { 'retry-after': '60' }

/** The error of a write to a full disk. */
export const diskFull = (cause: unknown): Error =>
  serviceUnavailable("The server's disk is full. Nothing was stored. The operator has to free space.", {
    cause,
    headers,
  })

const reserveReached = (): Error =>
  serviceUnavailable("The server's disk is full. Uploads are rejected until the operator frees space.", { headers })

const fullCodes = new Set(['ENOSPC', 'EDQUOT', '53100'])

/** Whether the error of the file system or PostgreSQL (53100, disk_full) says that a disk is full. */
export const isDiskFull = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  (('code' in error && fullCodes.has(String(error.code))) ||
    ('cause' in error && error.cause !== error && isDiskFull(error.cause)))

/** Reads the free space of a directory's disk: 10 µs, cached for a second. */
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
      // When statfs fails, the write itself fails with a better error.
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
