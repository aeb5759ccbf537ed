import assert from 'node:assert/strict'
import { SocketAddress } from 'node:net'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { readProxyHeader, type ProxyHeader, type ProxyProtocolOptions } from './proxy-protocol.ts'

const strictAll: ProxyProtocolOptions = { version: 'All', mode: 'Strict' }
const optionalAll: ProxyProtocolOptions = { version: 'All', mode: 'Optional' }
const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')

describe('PROXY protocol version 1', () => {
  it('reads TCP4, TCP6 and UNKNOWN lines', () => {
    assert.deepEqual(readText('PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\nGET'), {
      kind: 'header',
      length: 45,
      source: { address: '192.0.2.1', port: 56324 },
      destination: { address: '198.51.100.2', port: 443 },
    })
    assert.deepEqual(readText('PROXY TCP6 2001:DB8:0:0::1 ::1 0 65535\r\n'), {
      kind: 'header',
      length: 40,
      source: { address: '2001:db8::1', port: 0 },
      destination: { address: '::1', port: 65535 },
    })
    assert.deepEqual(readText('PROXY UNKNOWN\r\n'), { kind: 'header', length: 15, source: null, destination: null })
    assert.deepEqual(readText('PROXY UNKNOWN what ever\r\n').kind, 'header')
  })

  const malformed = [
    'PROXY TCP4 192.0.2.1 198.51.100.2 1 2\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1 2\r \r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1 2 3\r\n',
    'PROXY TCP4  192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1 2 \r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 +1 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 01 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 65536 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1e3 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 -1 2\r\n',
    'PROXY TCP4 192.0.2 198.51.100.2 1 2\r\n',
    'PROXY TCP4 ::1 ::1 1 2\r\n',
    'PROXY TCP6 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n',
    'PROXY UDP4 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY tcp4 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY \r\n',
    'PROXY \n',
    `PROXY UNKNOWN ${'x'.repeat(92)}\r\n`,
  ]
  for (const line of malformed) {
    it(`refuses ${JSON.stringify(line.slice(0, 60))}`, () => {
      assert.equal(readText(line).kind, 'refused')
    })
  }

  it('takes a line of exactly 107 bytes and refuses to wait beyond it', () => {
    assert.equal(readText(`PROXY UNKNOWN ${'x'.repeat(91)}\r\n`).kind, 'header')
    assert.equal(readText(`PROXY UNKNOWN ${'x'.repeat(92)}`).kind, 'more')
    assert.equal(readText(`PROXY UNKNOWN ${'x'.repeat(93)}`).kind, 'refused')
  })
})

describe('PROXY protocol version 2', () => {
  it('skips the TLVs behind the addresses', () => {
    const header = v2(0x21, 0x11, Buffer.concat([Buffer.from('c0000201c6336402dc0401bb', 'hex'), Buffer.alloc(20, 1)]))
    assert.deepEqual(readProxyHeader(Buffer.concat([header, Buffer.from('GET')]), strictAll), {
      kind: 'header',
      length: 48,
      source: { address: '192.0.2.1', port: 56324 },
      destination: { address: '198.51.100.2', port: 443 },
    })
  })

  it('keeps the addresses of the socket for LOCAL, whatever its family, and for UNSPEC', () => {
    for (const header of [v2(0x20, 0x00, Buffer.alloc(0)), v2(0x20, 0x31, Buffer.alloc(216)), v2(0x21, 0, signature)]) {
      const result = readProxyHeader(header, strictAll)
      assert.deepEqual(result, { kind: 'header', length: header.length, source: null, destination: null })
    }
  })

  const refusals: [string, Buffer][] = [
    ['a Unix family', v2(0x21, 0x31, Buffer.alloc(216))],
    ['UDP', v2(0x21, 0x12, Buffer.alloc(12))],
    ['an unknown family', v2(0x21, 0x41, Buffer.alloc(36))],
    ['an unknown version', v2(0x11, 0x11, Buffer.alloc(12))],
    ['an unknown command', v2(0x22, 0x11, Buffer.alloc(12))],
    ['addresses that do not fit', v2(0x21, 0x11, Buffer.alloc(11))],
    ['a payload over 512 bytes', v2(0x21, 0x11, Buffer.alloc(513)).subarray(0, 16)],
  ]
  for (const [name, header] of refusals) {
    it(`refuses ${name}`, () => assert.equal(readProxyHeader(header, strictAll).kind, 'refused'))
  }
})

describe('PROXY protocol modes', () => {
  it('refuses a connection without header in Strict mode at its first byte', () => {
    assert.equal(readProxyHeader(Buffer.from('G'), strictAll).kind, 'refused')
    assert.equal(readProxyHeader(Buffer.alloc(0), strictAll).kind, 'more')
  })

  it('decides in Optional mode at the first byte that differs', () => {
    const kinds = (text: string) => readProxyHeader(Buffer.from(text, 'latin1'), optionalAll).kind
    assert.equal(kinds('G'), 'none')
    assert.equal(kinds('\x16'), 'none')
    assert.equal(kinds('P'), 'more')
    assert.equal(kinds('PO'), 'none')
    assert.equal(kinds('PRI'), 'none')
    assert.equal(kinds('PROP'), 'none')
    assert.equal(kinds('\r\n\r\n'), 'more')
    assert.equal(kinds('\r\n\r\nG'), 'none')
  })

  it('refuses a header of a version that is not enabled, in both modes', () => {
    const v1Line = Buffer.from('PROXY UNKNOWN\r\n')
    for (const mode of ['Strict', 'Optional'] as const) {
      assert.equal(readProxyHeader(v1Line, { version: 'V2', mode }).kind, 'refused')
      assert.equal(readProxyHeader(v1Line, { version: 'V1', mode }).kind, 'header')
      assert.equal(readProxyHeader(v2(0x20, 0, Buffer.alloc(0)), { version: 'V1', mode }).kind, 'refused')
      assert.equal(readProxyHeader(v2(0x20, 0, Buffer.alloc(0)), { version: 'V2', mode }).kind, 'header')
    }
  })
})

describe('PROXY protocol properties', () => {
  const port = fc.nat(65535)
  const address4 = fc.ipV4()
  const address6 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes))

  it('reads back what was encoded, split at every byte', () => {
    const header1 = fc
      .tuple(address4, address4, port, port)
      .map(([a, b, p, q]) => ({ bytes: Buffer.from(`PROXY TCP4 ${a} ${b} ${p} ${q}\r\n`), want: [a, p, b, q] }))
    const header2 = fc
      .tuple(address6, address6, port, port, fc.uint8Array({ maxLength: 60 }))
      .map(([a, b, p, q, tlvs]) => ({
        bytes: v2(0x21, 0x21, Buffer.concat([a, b, Buffer.from([p >> 8, p & 255, q >> 8, q & 255]), tlvs])),
        want: [ipv6Text(a), p, ipv6Text(b), q],
      }))
    fc.assert(
      fc.property(fc.oneof(header1, header2), fc.uint8Array({ maxLength: 5 }), ({ bytes, want }, rest) => {
        const whole = Buffer.concat([bytes, rest])
        for (let end = 0; end < bytes.length; end++) {
          assert.equal(readProxyHeader(whole.subarray(0, end), optionalAll).kind, 'more')
        }
        const got = readProxyHeader(whole, optionalAll)
        assert.ok(got.kind === 'header')
        assert.equal(got.length, bytes.length)
        assert.deepEqual([got.source?.address, got.source?.port, got.destination?.address, got.destination?.port], want)
      }),
      { seed: 1, numRuns: 200 },
    )
  })

  it('never throws and never waits beyond its bounds on garbage', () => {
    const start = fc.constantFrom(Buffer.alloc(0), Buffer.from('PROXY '), Buffer.from('PROXY TCP4 '), signature)
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 600 }), (prefix, bytes) => {
        const buffer = Buffer.concat([prefix, bytes])
        const result = readProxyHeader(buffer, strictAll)
        if (result.kind === 'more') assert.ok(buffer.length < 16 + 512)
        if (result.kind === 'header') assert.ok(result.length <= buffer.length)
      }),
      { seed: 2, numRuns: 2000 },
    )
  })
})

function readText(text: string): ProxyHeader {
  return readProxyHeader(Buffer.from(text, 'latin1'), strictAll)
}

function v2(versionAndCommand: number, family: number, payload: Buffer): Buffer {
  const length = Buffer.from([payload.length >> 8, payload.length & 255])
  return Buffer.concat([signature, Buffer.from([versionAndCommand, family]), length, payload])
}

function ipv6Text(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16))
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address
}
