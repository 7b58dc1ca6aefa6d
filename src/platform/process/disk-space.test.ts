import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDiskSpace, diskFull, isDiskFull } from './disk-space.ts'
import type { Blocks } from './disk-space.ts'
import { ApiError, serviceUnavailable } from '../http/errors.ts'

const megabyte = 1_048_576

const spaceOf = (blocks: Omit<Blocks, 'bsize'>, reserveMegabytes = 256, freshMs = 1_000) => {
  let looks = 0
  const look = () => {
    looks += 1
    return { ...blocks, bsize: megabyte }
  }
  const space = createDiskSpace({
    path: '/nowhere',
    reserveBytes: reserveMegabytes * megabyte,
    freshMs,
    look: { later: async () => look(), now: look },
  })
  return { space, looks: () => looks }
}

describe('the reserve', () => {
  test('the reserve is the configured size, or 2 % of a small disk', async () => {
    const reserveOf = async (blocks: number, reserve?: number) =>
      (await spaceOf({ bavail: 1, blocks }, reserve).space.read()).reserveBytes / megabyte
    assert.equal(await reserveOf(1_000_000), 256)
    assert.equal(await reserveOf(5_000), 100)
    assert.equal(await reserveOf(1_000_000, 1_000), 1_000)
    assert.equal(await reserveOf(1_000_000, 0), 0)
  })

  test('a body that would use the reserve is rejected', async () => {
    const { space } = spaceOf({ bavail: 300, blocks: 1_000_000 })
    await space.require(44 * megabyte)
    await assert.rejects(space.require(45 * megabyte), (error) => error instanceof ApiError && error.status === 503)
    await spaceOf({ bavail: 0, blocks: 1_000_000 }, 0).space.require(0)
  })

  test('the free space is read at most once per second', async () => {
    const kept = spaceOf({ bavail: 300, blocks: 1_000_000 })
    await Promise.all(Array.from({ length: 20 }, () => kept.space.require(1)))
    await kept.space.read()
    assert.equal(kept.looks(), 1)
    const asked = spaceOf({ bavail: 300, blocks: 1_000_000 }, 256, 0)
    await asked.space.read()
    await asked.space.read()
    assert.equal(asked.looks(), 2)
  })
})

test('a disk with less space than one WAL segment is full', () => {
  assert.equal(spaceOf({ bavail: 15, blocks: 1_000 }).space.isFull(), true)
  assert.equal(spaceOf({ bavail: 16, blocks: 1_000 }).space.isFull(), false)
  const broken = createDiskSpace({ path: '/nowhere/at/all', reserveBytes: 0 })
  assert.equal(broken.isFull(), false)
})

test('a full disk is detected by the code of the error or its cause', () => {
  const withCode = (code: string) => Object.assign(new Error('x'), { code })
  for (const code of ['ENOSPC', 'EDQUOT', '53100']) {
    assert.ok(isDiskFull(withCode(code)))
    assert.ok(isDiskFull(diskFull(withCode(code))))
  }
  for (const other of [withCode('ECONNREFUSED'), serviceUnavailable('x'), undefined, null, 'ENOSPC']) {
    assert.ok(!isDiskFull(other))
  }
})
