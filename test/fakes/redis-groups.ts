// Several real Redis servers on loopback: a cluster, and a primary with a replica that Sentinel watches.
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { until } from '../support/until.ts'
import { freePort } from './programs.ts'
import { spawnRedis } from './redis.ts'

const slotCount = 16_384
const inMemory = ['--save', '', '--appendonly', 'no']

const end = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })

export interface TestRedisCluster {
  /** `redis+cluster://` with all nodes. */
  url: string
  nodes: Redis[]
  /** The index of the node that has the key. */
  nodeOf(key: string): Promise<number>
  /** Moves the key's slot with all of its keys to the next node, as a resharding does. */
  moveSlotOf(key: string): Promise<void>
  stop(): Promise<void>
}

/** A cluster of three servers without replicas. */
export const startRedisCluster = async (): Promise<TestRedisCluster> => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-redis-'))
  const ports = await Promise.all([0, 1, 2].map(() => freePort()))
  const buses = await Promise.all([0, 1, 2].map(() => freePort()))
  const children = await Promise.all(
    ports.map((port, i) =>
      spawnRedis(port, [
        ...inMemory,
        '--dir',
        folder,
        '--cluster-enabled',
        'yes',
        '--cluster-config-file',
        `nodes-${i}.conf`,
        '--cluster-port',
        `${buses[i]}`,
        '--cluster-node-timeout',
        '2000',
      ]),
    ),
  )
  const nodes = ports.map((port) => new Redis(port, '127.0.0.1'))
  for (const [i, node] of nodes.entries()) {
    const [from, to] = [Math.ceil((i * slotCount) / 3), Math.ceil(((i + 1) * slotCount) / 3) - 1]
    await node.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
    if (i > 0) await nodes[0]?.call('CLUSTER', 'MEET', '127.0.0.1', `${ports[i]}`, `${buses[i]}`)
  }
  const isOk = async (node: Redis): Promise<boolean> => {
    const info = String(await node.call('CLUSTER', 'INFO'))
    return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3')
  }
  await until('the cluster is complete', async () => (await Promise.all(nodes.map(isOk))).every(Boolean))

  const ids = await Promise.all(nodes.map(async (node) => String(await node.call('CLUSTER', 'MYID'))))
  const slotOf = async (key: string): Promise<number> => Number(await nodes[0]?.call('CLUSTER', 'KEYSLOT', key))
  const nodeOf = async (key: string): Promise<number> => {
    const slot = await slotOf(key)
    const ranges = (await nodes[0]?.call('CLUSTER', 'SLOTS')) as [number, number, [string, number, string]][]
    const owner = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][2]
    return ids.indexOf(owner ?? '')
  }
  return {
    url: `redis+cluster://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    nodeOf,
    moveSlotOf: async (key) => {
      const slot = await slotOf(key)
      const from = await nodeOf(key)
      const to = (from + 1) % nodes.length
      await nodes[to]?.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[from] as string)
      await nodes[from]?.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[to] as string)
      const keys = (await nodes[from]?.call('CLUSTER', 'GETKEYSINSLOT', slot, 1_000)) as string[]
      for (const one of keys) await nodes[from]?.call('MIGRATE', '127.0.0.1', `${ports[to]}`, one, 0, 5_000)
      for (const i of [to, from, (to + 1) % nodes.length]) {
        await nodes[i]?.call('CLUSTER', 'SETSLOT', slot, 'NODE', ids[to] as string)
      }
    },
    stop: async () => {
      for (const node of nodes) node.disconnect()
      await Promise.all(children.map(end))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export interface TestSentinel {
  /** `redis+sentinel://` with the name of the primary. */
  url: string
  /** Kills the primary. Resolves when Sentinel has promoted the replica. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

/** A primary, its replica, and one Sentinel. */
export const startRedisSentinel = async (): Promise<TestSentinel> => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-redis-'))
  const [primaryPort, replicaPort, sentinelPort] = (await Promise.all([0, 1, 2].map(() => freePort()))) as [
    number,
    number,
    number,
  ]
  const primary = await spawnRedis(primaryPort, inMemory)
  const replica = await spawnRedis(replicaPort, [...inMemory, '--replicaof', '127.0.0.1', `${primaryPort}`])
  const file = join(folder, 'sentinel.conf')
  const settings = [
    `sentinel monitor atrium 127.0.0.1 ${primaryPort} 1`,
    'sentinel down-after-milliseconds atrium 500',
    'sentinel failover-timeout atrium 3000',
  ]
  await writeFile(file, `${settings.join('\n')}\n`)
  const sentinel = await spawnRedis(sentinelPort, ['--sentinel'], [file])
  const client = new Redis(sentinelPort, '127.0.0.1')
  await until('Sentinel knows the replica', async () => {
    const info = await client.info('sentinel')
    return info.includes('slaves=1')
  })
  return {
    url: `redis+sentinel://127.0.0.1:${sentinelPort}/atrium`,
    failOver: async () => {
      await end(primary)
      await until('Sentinel names the replica', async () => {
        const named = (await client.call('SENTINEL', 'get-master-addr-by-name', 'atrium')) as [string, string]
        return named[1] === `${replicaPort}`
      })
    },
    stop: async () => {
      client.disconnect()
      await Promise.all([sentinel, primary, replica].map(end))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
