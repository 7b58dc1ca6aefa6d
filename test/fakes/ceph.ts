import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { freePort } from './programs.ts'

const run = promisify(execFile)

export const cephInstallHint = 'apt-get install --no-install-recommends ceph-mon ceph-osd ceph-mgr radosgw ceph-common'

const programs = ['setpriv', 'ceph', 'ceph-mon', 'ceph-osd', 'ceph-authtool', 'monmaptool', 'radosgw', 'radosgw-admin']

/** Whether every program of the packages is on the path. */
export const isCephInstalled = async (): Promise<boolean> => {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const isThere = (program: string): Promise<boolean> =>
    Promise.any(folders.map((folder) => access(join(folder, program)))).then(
      () => true,
      () => false,
    )
  return (await Promise.all(programs.map(isThere))).every(Boolean)
}

/** A Ceph object gateway on loopback, its objects in memory, with one user. */
export interface Ceph {
  endpoint: string
  accessKeyId: string
  secretAccessKey: string
  stop(): Promise<void>
}

const configuration = (dir: string, fsid: string, monitorPort: number, gatewayPort: number): string => `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monitorPort}]
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = ${dir}/keyring
admin socket = ${dir}/$name.asok
run dir = ${dir}
log file = ${dir}/$name.log
pid file = ${dir}/$name.pid
crash dir = ${dir}
mon data = ${dir}/mon
osd data = ${dir}/osd
rgw data = ${dir}/rgw
osd objectstore = memstore
memstore device bytes = 2147483648
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd crush chooseleaf type = 0
osd class update on start = false
mon allow pool size one = true
mon osd initial require min compat client = luminous
rgw frontends = beast endpoint=127.0.0.1:${gatewayPort} tcp_nodelay=1
rgw gc processor period = 10
`

interface Cluster {
  dir: string
  /** Starts a daemon as a child process in the foreground. */
  daemon: (program: string, ...args: string[]) => ChildProcess
  /** Runs a command and returns its output. */
  command: (program: string, ...args: string[]) => Promise<string>
}

const openCluster = (dir: string): Cluster => {
  const conf = ['-c', join(dir, 'ceph.conf')]
  return {
    dir,
    daemon: (program, ...args) => {
      // The kernel ends the daemon with this process, so that a killed test run leaves no cluster behind.
      const command = ['--pdeathsig', 'KILL', '--', program, '-f', ...conf, ...args]
      const child = spawn('setpriv', command, { stdio: ['ignore', 'pipe', 'pipe'] })
      const log = createWriteStream(join(dir, `${program}.out`))
      child.stdout.pipe(log)
      child.stderr.pipe(log)
      return child
    },
    command: async (program, ...args) => (await run(program, [...conf, ...args], { timeout: 60_000 })).stdout,
  }
}

const startMonitor = async ({ dir, daemon, command }: Cluster, fsid: string, port: number): Promise<ChildProcess> => {
  const keyring = join(dir, 'keyring')
  const create = (name: string, ...caps: string[]): Promise<unknown> =>
    run('ceph-authtool', [keyring, '--gen-key', '-n', name, ...caps.flatMap((cap) => ['--cap', ...cap.split('=')])])
  await run('ceph-authtool', [keyring, '--create-keyring', '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *'])
  await create('client.admin', 'mon=allow *', 'osd=allow *', 'mgr=allow *')
  await create('client.rgw', 'mon=allow rw', 'osd=allow rwx', 'mgr=allow rw')
  await create('osd.0', 'mon=allow profile osd', 'osd=allow *', 'mgr=allow profile osd')
  const map = join(dir, 'monmap')
  await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', `[v2:127.0.0.1:${port}]`, map])
  await mkdir(join(dir, 'mon'))
  await command('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map, '--keyring', keyring)
  return daemon('ceph-mon', '-i', 'a')
}

const startStorage = async ({ dir, daemon, command }: Cluster): Promise<ChildProcess> => {
  const uuid = randomUUID()
  await command('ceph', 'osd', 'new', uuid, '0')
  await mkdir(join(dir, 'osd'))
  await command('ceph-osd', '--mkfs', '-i', '0', '--osd-uuid', uuid)
  return daemon('ceph-osd', '-i', '0')
}

const waitForGateway = async (endpoint: string, daemons: ChildProcess[]): Promise<void> => {
  const deadline = performance.now() + 90_000
  for (;;) {
    const answer = await fetch(endpoint).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer) return
    const dead = daemons.find((daemon) => daemon.exitCode !== null || daemon.signalCode !== null)
    if (dead) throw new Error(`${dead.spawnfile} ended with ${dead.exitCode ?? dead.signalCode}`)
    if (performance.now() > deadline) throw new Error(`the gateway at ${endpoint} does not respond`)
    await sleep(100)
  }
}

const stopAll = async (daemons: ChildProcess[]): Promise<void> => {
  for (const daemon of daemons.toReversed()) {
    if (daemon.exitCode !== null || daemon.signalCode !== null) continue
    // The data is temporary, and a graceful stop of a storage daemon takes seconds.
    daemon.kill('SIGKILL')
    await once(daemon, 'exit')
  }
}

/** Starts monitor, storage and gateway; takes about ten seconds and 250 MB of memory. */
export const startCeph = async (): Promise<Ceph> => {
  const dir = await mkdtemp(join(tmpdir(), 'atrium-ceph-'))
  const daemons: ChildProcess[] = []
  const stop = async (): Promise<void> => {
    await stopAll(daemons)
    await rm(dir, { recursive: true, force: true })
  }
  try {
    const [monitorPort, gatewayPort] = [await freePort(), await freePort()]
    const fsid = randomUUID()
    await writeFile(join(dir, 'ceph.conf'), configuration(dir, fsid, monitorPort, gatewayPort))
    const cluster = openCluster(dir)
    daemons.push(await startMonitor(cluster, fsid, monitorPort))
    daemons.push(await startStorage(cluster))
    daemons.push(cluster.daemon('radosgw', '-n', 'client.rgw'))
    const accessKeyId = `test${randomBytes(6).toString('hex')}`
    const secretAccessKey = randomBytes(20).toString('hex')
    const keys = ['--access-key', accessKeyId, '--secret-key', secretAccessKey]
    await cluster.command('radosgw-admin', 'user', 'create', '--uid', 'test', '--display-name', 'Test', ...keys)
    const endpoint = `http://127.0.0.1:${gatewayPort}`
    await waitForGateway(endpoint, daemons)
    return { endpoint, accessKeyId, secretAccessKey, stop }
  } catch (error) {
    const output = await Promise.all(
      ['ceph-mon', 'ceph-osd', 'radosgw'].map((name) => readFile(join(dir, `${name}.out`), 'utf8').catch(() => '')),
    )
    await stop()
    throw new Error(`Ceph does not start: ${output.join('\n').slice(-2_000)}`, { cause: error })
  }
}

export const createBucket = async ({ endpoint, accessKeyId, secretAccessKey }: Ceph): Promise<string> => {
  const bucket = `test-${randomBytes(6).toString('hex')}`
  const credentials = { accessKeyId, secretAccessKey }
  const s3 = new S3Client({ endpoint, forcePathStyle: true, region: 'us-east-1', credentials })
  await s3.send(new CreateBucketCommand({ Bucket: bucket }))
  s3.destroy()
  return bucket
}

/** Starts Ceph with a bucket for the servers of this process, which read its credentials from the environment. */
export const startBucket = async (): Promise<{ ceph: Ceph; bucket: string; env: Record<string, string> }> => {
  const ceph = await startCeph()
  process.env['AWS_ACCESS_KEY_ID'] = ceph.accessKeyId
  process.env['AWS_SECRET_ACCESS_KEY'] = ceph.secretAccessKey
  const bucket = await createBucket(ceph)
  return { ceph, bucket, env: { S3_BUCKET: bucket, S3_ENDPOINT: ceph.endpoint, S3_FORCE_PATH_STYLE: '1' } }
}
