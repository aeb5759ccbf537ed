import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { isCidr } from '../../text/ip.ts'
import { createAddressGuard } from './address-guard.ts'

const guard = createAddressGuard({ allowCidrs: [], ports: [] })

describe('address guard', () => {
  const refusals: [string, RegExp][] = [
    ['127.0.0.1', /loopback/],
    ['127.255.255.254', /loopback/],
    ['::1', /loopback/],
    ['0.0.0.0', /unspecified/],
    ['0.1.2.3', /unspecified/],
    ['::', /unspecified/],
    ['10.1.2.3', /private/],
    ['172.16.0.1', /private/],
    ['172.31.255.255', /private/],
    ['192.168.1.1', /private/],
    ['fc00::1', /private/],
    ['fdff::1', /private/],
    ['100.64.0.1', /carrier/],
    ['169.254.1.1', /link-local/],
    ['fe80::1', /link-local/],
    ['febf::1', /link-local/],
    ['169.254.169.254', /metadata/],
    ['fd00:ec2::254', /metadata/],
    ['168.63.129.16', /metadata/],
    ['100.100.100.200', /metadata/],
    ['224.0.0.1', /multicast/],
    ['239.1.1.1', /multicast/],
    ['ff02::1', /multicast/],
    ['255.255.255.255', /broadcast/],
    ['192.0.2.1', /documentation/],
    ['2001:db8::1', /documentation/],
    ['198.18.0.1', /reserved/],
    ['240.0.0.1', /reserved/],
    ['::ffff:127.0.0.1', /loopback/],
    ['::ffff:7f00:1', /loopback/],
    ['0:0:0:0:0:ffff:a9fe:a9fe', /metadata/],
    ['::127.0.0.1', /loopback/],
    ['64:ff9b::10.0.0.1', /private/],
    ['64:ff9b:1::a00:1', /reserved/],
    ['2002:7f00:1::', /loopback/],
    ['2002:a9fe:a9fe::1', /metadata/],
    ['2001:0:808:808::1', /reserved/],
    ['4000::1', /global unicast/],
    ['::808:808', /global unicast/],
    ['fe80::1%eth0', /not an IP/],
    ['2606:4700::1%1', /not an IP/],
    ['127.1', /not an IP/],
    ['0x7f000001', /not an IP/],
    ['localhost', /not an IP/],
    ['', /not an IP/],
  ]
  for (const [address, reason] of refusals) {
    it(`refuses ${address || 'nothing'}`, () => assert.match(guard(address, 80) ?? 'let through', reason))
  }

  for (const address of [
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ]) {
    it(`lets ${address} through`, () => assert.equal(guard(address, 443), null))
  }

  it('opens what is allowed, in its mapped form too, and nothing beside it', () => {
    const open = createAddressGuard({ allowCidrs: ['10.1.0.0/16', '::1/128', '169.254.169.254/32'], ports: [] })
    assert.equal(open('10.1.255.1', 80), null)
    assert.equal(open('::ffff:10.1.0.1', 80), null)
    assert.equal(open('::1', 80), null)
    assert.equal(open('169.254.169.254', 80), null)
    assert.match(open('10.2.0.1', 80)!, /private/)
    assert.match(open('127.0.0.1', 80)!, /loopback/)
    assert.match(open('64:ff9b::a01:1', 80)!, /private/)
  })

  it('opens everything to 0.0.0.0/0 and ::/0', () => {
    const open = createAddressGuard({ allowCidrs: ['0.0.0.0/0', '::/0'], ports: [] })
    for (const address of ['127.0.0.1', '::1', 'fe80::1', '8.8.8.8']) assert.equal(open(address, 80), null)
  })

  it('keeps to the listed ports, and to real ones', () => {
    const narrow = createAddressGuard({ allowCidrs: ['127.0.0.0/8'], ports: [80, 443] })
    assert.equal(narrow('8.8.8.8', 443), null)
    assert.match(narrow('8.8.8.8', 22)!, /port 22/)
    assert.match(narrow('127.0.0.1', 22)!, /port 22/)
    for (const port of [0, -1, 65536, 1.5, Number.NaN]) assert.match(guard('8.8.8.8', port)!, /port/)
  })

  it('knows a CIDR', () => {
    for (const text of ['10.0.0.0/8', '::/0', '2001:db8::/128', '1.2.3.4/32', '10.0.0.0', '::1'])
      assert.ok(isCidr(text))
    for (const text of ['10.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/08', 'a/8', '::1%lo/128', '10.0.0.0/8/8', '']) {
      assert.ok(!isCidr(text))
      assert.throws(() => createAddressGuard({ allowCidrs: [text], ports: [] }), RangeError)
    }
  })
})

describe('address guard properties', () => {
  const bytes = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))

  it('judges every embedded form like the IPv4 address inside, or refuses it', () => {
    const risky = fc.constantFrom([127], [10], [192, 168], [169, 254], [100, 100], [172, 20], [224], [0])
    const address = fc.oneof(
      bytes,
      fc.tuple(risky, bytes).map(([start, rest]) => [...start, ...rest.slice(start.length)]),
    )
    fc.assert(
      fc.property(address, (parts) => {
        const dotted = parts.join('.')
        const hex = Buffer.from(parts).toString('hex')
        const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`
        const plain = guard(dotted, 80)
        assert.equal(guard(`::ffff:${dotted}`, 80), plain)
        assert.equal(guard(`64:ff9b::${groups}`, 80), plain)
        assert.equal(guard(`2002:${groups}::1`, 80), plain)
        assert.notEqual(guard(`::${groups}`, 80), null)
        assert.notEqual(guard(`2001:0:${groups}::1`, 80), null)
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  it('lets through exactly what is inside an allowed private range', () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 8, max: 32 }), fc.nat(2 ** 24 - 1), ([, b, c, d], prefix, other) => {
        const base = ((10 << 24) | (b << 16) | (c << 8) | d) >>> 0
        const candidate = ((10 << 24) | other) >>> 0
        const open = createAddressGuard({ allowCidrs: [`${dotted(base)}/${prefix}`], ports: [] })
        const isInside = base >>> (32 - prefix) === candidate >>> (32 - prefix)
        assert.equal(open(dotted(candidate), 80) === null, isInside)
        assert.equal(open(dotted(base), 80), null)
      }),
      { seed: 2, numRuns: 300 },
    )
  })

  it('never throws on any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV6(), fc.ipV4Extended()), fc.integer(), (text, port) => {
        guard(text, port)
      }),
      { seed: 3, numRuns: 1000 },
    )
  })
})

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.')
}
