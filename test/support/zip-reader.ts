import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const hasPython = (): Promise<boolean> =>
  run('python3', ['-c', 'import zipfile']).then(
    () => true,
    () => false,
  )

/** An entry of an archive as the zipfile module of Python reads it. */
export interface ReadEntry {
  name: string
  /** Whether the name is declared to be in UTF-8. */
  isUtf8: boolean
  isDeflated: boolean
  size: number
  sha256: string
  /** `YYYY-MM-DD HH:MM` */
  time: string
}

const program = `
import hashlib, json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps([{
        'name': one.filename, 'isUtf8': bool(one.flag_bits & 0x800), 'isDeflated': one.compress_type == 8,
        'size': one.file_size, 'sha256': hashlib.sha256(archive.read(one)).hexdigest(),
        'time': '%04d-%02d-%02d %02d:%02d' % one.date_time[:5],
    } for one in archive.infolist()]))
`

/** Reads an archive with another program than the one that wrote it, which checks every CRC. Throws for a damaged one. */
export const readZip = async (bytes: Uint8Array): Promise<ReadEntry[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-zip-'))
  try {
    const path = join(folder, 'archive.zip')
    await writeFile(path, bytes)
    const env = { PATH: process.env['PATH'] ?? '', PYTHONUTF8: '1' }
    const { stdout } = await run('python3', ['-c', program, path], { env, maxBuffer: 1e8 })
    return JSON.parse(stdout) as ReadEntry[]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
