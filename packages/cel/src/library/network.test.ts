import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { describe, it } from 'node:test'
import { show } from '../testing/evaluate.ts'
import { parseCidr, parseIp } from './ip.ts'

describe('cel network functions', () => {
  const cases: readonly (readonly [source: string, expected: string])[] = [
    ['isIP("10.0.0.1")', 'true'],
    ['isIP("::1")', 'true'],
    ['isIP("fe80::1%eth0")', 'false'],
    ['isIP("010.0.0.1")', 'false'],
    ['isIP("10.0.0.1 ")', 'false'],
    ['isIP("10.1")', 'false'],
    ['isIP("0x0a.0.0.1")', 'false'],
    ['isIP("1.2.3.4.5")', 'false'],
    ['isIP("1.2.3.256")', 'false'],
    ['isIP("1.2.3.")', 'false'],
    ['isIP("")', 'false'],
    ['isIP("1::2::3")', 'false'],
    ['isIP(":::")', 'false'],
    ['isIP("12345::")', 'false'],
    ['string(ip("2001:DB8:0:0:1:0:0:1"))', '"2001:db8::1:0:0:1"'],
    ['string(ip("::"))', '"::"'],
    ['string(ip("1:0:0:2::"))', '"1:0:0:2::"'],
    ['string(ip("::ffff:10.0.0.1"))', '"10.0.0.1"'],
    ['ip("10.0.0.1").family()', 'int 4'],
    ['ip("2001:db8::1").family()', 'int 6'],
    ['ip("::ffff:10.0.0.1").family()', 'int 4'],
    ['ip("::ffff:10.0.0.1") == ip("10.0.0.1")', 'true'],
    ['ip("::1") == ip("0:0:0:0:0:0:0:1")', 'true'],
    ['ip("10.0.0.1") == ip("10.0.0.2")', 'false'],
    ['type(ip("::1")) == type(ip("10.0.0.1"))', 'true'],
    ['ip("0.0.0.0").isUnspecified() && ip("::").isUnspecified()', 'true'],
    ['ip("127.9.9.9").isLoopback() && ip("::1").isLoopback() && ip("::ffff:127.0.0.1").isLoopback()', 'true'],
    ['ip("10.0.0.1").isLoopback() || ip("::2").isLoopback()', 'false'],
    ['ip("224.0.0.9").isLinkLocalMulticast() && ip("ff02::1").isLinkLocalMulticast()', 'true'],
    ['ip("224.0.1.1").isLinkLocalMulticast() || ip("ff05::1").isLinkLocalMulticast()', 'false'],
    ['ip("169.254.1.1").isLinkLocalUnicast() && ip("fe80::1").isLinkLocalUnicast()', 'true'],
    [
      'ip("8.8.8.8").isGlobalUnicast() && ip("10.0.0.1").isGlobalUnicast() && ip("2001:db8::1").isGlobalUnicast()',
      'true',
    ],
    [
      '["0.0.0.0", "127.0.0.1", "169.254.0.1", "224.0.0.1", "239.1.1.1", "255.255.255.255", "::", "::1", "fe80::1", "ff02::1"].exists(a, ip(a).isGlobalUnicast())',
      'false',
    ],
    ['cidr("10.0.0.0/8").containsIP("10.255.0.1")', 'true'],
    ['cidr("10.0.0.0/8").containsIP("11.0.0.0")', 'false'],
    ['cidr("10.0.0.0/8").containsIP(ip("10.1.1.1"))', 'true'],
    ['cidr("10.0.0.0/8").containsIP("::ffff:10.0.0.1")', 'true'],
    ['cidr("10.0.0.0/8").containsIP("::10.0.0.1")', 'false'],
    ['cidr("::ffff:10.0.0.0/104").containsIP("10.1.1.1")', 'true'],
    ['cidr("0.0.0.0/0").containsIP("255.255.255.255")', 'true'],
    ['cidr("255.255.255.255/32").containsIP("255.255.255.255")', 'true'],
    ['cidr("192.168.1.77/24").containsIP("192.168.1.1")', 'true'],
    ['cidr("::/0").containsIP("2001:db8::1")', 'true'],
    ['cidr("::/0").containsIP("10.0.0.1")', 'false'],
    ['cidr("2001:db8::/32").containsIP("2001:db8:ffff::1")', 'true'],
    ['cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")', 'true'],
    ['cidr("10.0.0.0/8").containsCIDR(cidr("10.0.0.0/8"))', 'true'],
    ['cidr("10.1.0.0/16").containsCIDR("10.0.0.0/8")', 'false'],
    ['cidr("10.0.0.0/8").containsCIDR("2001:db8::/32")', 'false'],
    ['string(cidr("192.168.1.77/24").masked())', '"192.168.1.0/24"'],
    ['string(cidr("2001:db8::77/64").masked())', '"2001:db8::/64"'],
    ['string(cidr("192.168.1.77/24").ip())', '"192.168.1.77"'],
    ['cidr("192.168.1.77/24").prefixLength()', 'int 24'],
    ['cidr("10.0.0.0/8") == cidr("10.0.0.0/8")', 'true'],
    ['cidr("10.0.0.1/8") == cidr("10.0.0.0/8")', 'false'],
  ]
  for (const [source, expected] of cases) it(source, () => assert.equal(show(source), expected))

  it('fail for texts that are no address', () => {
    for (const source of [
      'cidr("10.0.0.0/8").containsIP(x)',
      'cidr("10.0.0.0/8").containsCIDR(x)',
      'ip(x)',
      'cidr(x)',
      'cidr(x + "/8")',
      'cidr("10.0.0.0/" + x)',
    ]) {
      for (const x of ['010.0.0.1', '', 'x', '08', '33', '-1', ' 10.0.0.1', '10.0.0.1/8/8']) {
        assert.match(show(source, { x }), /^bad_value/, `${source} with ${x}`)
      }
    }
    assert.match(show('cidr("10.0.0.0/8").containsIP(x)', { x: 1 }), /^no_such_overload/)
    assert.match(show('x.containsIP("10.0.0.1")', { x: '10.0.0.0/8' }), /^no_such_overload/)
  })

  it('read the addresses that the runtime reads, zones aside', () => {
    const part = fc.oneof(
      fc.integer({ min: 0, max: 300 }).map(String),
      fc.constantFrom('', '00', '01', 'a', '-1', '1e1', ' 1'),
    )
    const group = fc.oneof(
      fc.integer({ min: 0, max: 0x1ffff }).map((n) => n.toString(16)),
      fc.constantFrom('', '0', 'g', '00000'),
    )
    const v4 = fc.array(part, { minLength: 3, maxLength: 5 }).map((parts) => parts.join('.'))
    const v6 = fc
      .tuple(
        fc.array(group, { maxLength: 8 }),
        fc.constantFrom(':', '::', ''),
        fc.array(group, { maxLength: 8 }),
        fc.option(v4),
      )
      .map(([head, gap, tail, end]) =>
        [head.join(':'), gap, [...tail, ...(end === null ? [] : [end])].join(':')].join(''),
      )
    fc.assert(
      fc.property(fc.oneof(v4, v6, fc.ipV4(), fc.ipV6()), (text) => {
        assert.equal(parseIp(text) !== undefined, isIP(text) !== 0, text)
      }),
      { seed: 80, numRuns: 5000 },
    )
  })

  it('find addresses in ranges as the runtime does, and write what they can read', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.ipV4(), fc.ipV6()),
        fc.oneof(fc.ipV4(), fc.ipV6()),
        fc.integer({ min: 0, max: 128 }),
        (a, b, n) => {
          const [address, base] = [parseIp(a)!, parseIp(b)!]
          assert.ok(parseIp(address.toText())!.equals(address))
          // The runtime treats mapped addresses as IPv6, we treat them as IPv4.
          fc.pre((address.family === 6) === isIPv6(a) && (base.family === 6) === isIPv6(b))
          const prefix = base.family === 4 ? n % 33 : n
          const list = new BlockList()
          list.addSubnet(b, prefix, base.family === 4 ? 'ipv4' : 'ipv6')
          fc.pre(address.family === base.family)
          const range = parseCidr(`${b}/${prefix}`)!
          const expected = list.check(a, address.family === 4 ? 'ipv4' : 'ipv6')
          assert.equal(range.contains(address), expected, `${a} in ${b}/${prefix}`)
          assert.equal(range.containsText(a), expected)
          assert.equal(range.masked().contains(address), expected)
        },
      ),
      { seed: 81, numRuns: 3000 },
    )
  })
})
