import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addressGroup, addressNetwork, isLoopback } from './network.ts'

describe('addressGroup', () => {
  const groups: [string, string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
    ['unknown', 'unknown'],
  ]
  for (const [address, group] of groups) {
    test(`${address} is counted as ${group}`, () => assert.equal(addressGroup(address), group))
  }
})

describe('addressNetwork', () => {
  const networks: [string, string][] = [
    ['203.0.113.7', '203.0.113.0/24'],
    ['::ffff:203.0.113.7', '203.0.113.0/24'],
    ['2001:db8::1', '2001:db8:0::/48'],
    ['2001:0DB8:0001:ffff:1:2:3:4', '2001:db8:1::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
    ['unknown', 'unknown'],
  ]
  for (const [address, network] of networks) {
    test(`${address} is in the network ${network}`, () => assert.equal(addressNetwork(address), network))
  }
})

describe('isLoopback', () => {
  for (const address of ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1']) {
    test(`${address} is on this machine`, () => assert.equal(isLoopback(address), true))
  }
  for (const address of [
    '128.0.0.1',
    '10.0.0.1',
    '0.0.0.0',
    '::',
    '::2',
    '::ffff:10.0.0.1',
    '',
    'localhost',
    undefined,
  ]) {
    test(`${address ?? 'a closed socket'} is not on this machine`, () => assert.equal(isLoopback(address), false))
  }
})
