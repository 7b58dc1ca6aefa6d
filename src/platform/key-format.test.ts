import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { generateKey, hashKey, isWellFormedKey } from './key-format.ts'
import type { KeyEnvironment } from './key-format.ts'

// Made with Python's zlib.crc32, hashlib and integers, from the description in key-format.ts.
const vectors: [KeyEnvironment, Buffer, key: string, sha256: string][] = [
  [
    'test',
    Buffer.alloc(32),
    'atr_test_0000000000000000000000000000000000000000000244L6a',
    '8f66189276697da10635e845328b2c6a2b9dcd1f3f3ed586f26275eec2a7a6c0',
  ],
  [
    'live',
    Buffer.alloc(32, 255),
    'atr_live_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp13YXdG8',
    'ccb2a9604973adff1c61a212264354c211ffaa926ea75ca0cba0e588183f0ec2',
  ],
  [
    'dev',
    Buffer.from(Array.from({ length: 32 }, (_, index) => index)),
    'atr_dev_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf1DbtI4',
    '7e0409639d1055fb67f58b7e9abd832ac253e8aea78504cd0e95f8570f52a967',
  ],
]

describe('API keys', () => {
  test('the checksum is the CRC-32 whose published check value is cbf43926', () => {
    assert.equal(crc32('123456789'), 0xcb_f4_39_26)
  })

  for (const [environment, random, key, sha256] of vectors) {
    test(`${key} is the key that an independent implementation makes from its bytes`, () => {
      assert.equal(generateKey(environment, random), key)
      assert.equal(hashKey(key).toString('hex'), sha256)
      assert.equal(isWellFormedKey(key, environment), true)
    })
  }

  test('a generated key is well-formed in its own environment only', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const key = generateKey('live', Buffer.from(bytes))
        assert.match(key, /^atr_live_[0-9A-Za-z]{49}$/)
        assert.equal(isWellFormedKey(key, 'live'), true)
        assert.equal(isWellFormedKey(key, 'test'), false)
        assert.equal(isWellFormedKey(key, 'dev'), false)
      }),
    )
  })

  test('a changed, missing, added or swapped character makes a key malformed', () => {
    const key = generateKey('test')
    for (let i = 0; i < key.length; i++) {
      for (const other of ['0', 'Z', '_', '!', 'é']) {
        if (other !== key[i]) assert.equal(isWellFormedKey(key.slice(0, i) + other + key.slice(i + 1), 'test'), false)
      }
      assert.equal(isWellFormedKey(key.slice(0, i) + key.slice(i + 1), 'test'), false)
      const swapped = key.slice(0, i) + (key[i + 1] ?? '') + (key[i] ?? '') + key.slice(i + 2)
      if (swapped !== key) assert.equal(isWellFormedKey(swapped, 'test'), false, swapped)
    }
    for (const text of ['', 'atr_test_', `${key}0`, ` ${key}`, key.toUpperCase(), `${key}\n`]) {
      assert.equal(isWellFormedKey(text, 'test'), false)
    }
  })

  test('generated keys are unique', () => {
    assert.equal(new Set(Array.from({ length: 1_000 }, () => generateKey('test'))).size, 1_000)
  })
})
