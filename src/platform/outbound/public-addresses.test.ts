import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRange, isPublicAddress, parseCidr } from './public-addresses.ts'

describe('public addresses', () => {
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '168.63.129.15',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2001:200::1',
    '2a00::1',
    '3fff:1000::1',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '64:ff9b::8.8.8.8',
  ]) {
    test(`${address} is a public address`, () => assert.equal(isPublicAddress(address), true))
  }
})

describe('addresses that are not public', () => {
  for (const address of [
    '0.0.0.0',
    '0.255.255.255',
    '10.0.0.0',
    '10.255.255.255',
    '100.64.0.0',
    '100.100.100.200',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.255',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.0',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:0:127.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::7f00:1',
    '64:ff9b:1::8.8.8.8',
    '100::1',
    '2001::1',
    '2001:1ff::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:808:808::1',
    '3fff::1',
    '4000::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700:4700::1111%eth0',
    'fec0::1',
    'ff02::1',
    '',
    'localhost',
    '8.8.8',
    '8.8.8.8 ',
  ]) {
    test(`${JSON.stringify(address)} is not a public address`, () => assert.equal(isPublicAddress(address), false))
  }
})

describe('address ranges', () => {
  test('parseCidr accepts an address, a slash and a prefix length that the address family has', () => {
    assert.deepEqual(parseCidr('10.0.0.0/8'), { address: '10.0.0.0', prefix: 8, family: 'ipv4' })
    assert.deepEqual(parseCidr('fd00::/8'), { address: 'fd00::', prefix: 8, family: 'ipv6' })
    for (const text of ['', '10.0.0.0', '10.0.0.0/33', '10.0.0/8', '::1/129', 'fe80::1%eth0/64', '/8', 'a/8']) {
      assert.equal(parseCidr(text), undefined, text)
    }
  })

  test('a range contains its addresses, also IPv4 addresses in IPv6 form, and no others', () => {
    const has = createRange([parseCidr('10.0.0.0/8')!, parseCidr('fd00::/8')!])
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::10.1.2.3', 'fd12::1'])
      assert.ok(has(address), address)
    for (const address of ['11.0.0.1', '::ffff:11.0.0.1', 'fe80::1', 'fd12::1%eth0', 'localhost', '']) {
      assert.ok(!has(address), address)
    }
  })
})
