import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { connect, type ConnectionOptions } from 'node:tls'
import * as fc from 'fast-check'
import { readClientHello, type ClientHello } from './client-hello.ts'

const RANDOM = Array<number>(32).fill(7)
/** One cipher suite, with the length of the list. */
const SUITES = [0, 2, 0x13, 0x01]

describe('ClientHello of real clients', () => {
  const cases: [string, ConnectionOptions, Omit<ClientHello, 'kind' | 'random'>][] = [
    [
      'with name, protocols and both versions',
      { servername: 'API.Example.com', ALPNProtocols: ['h2', 'http/1.1'] },
      { sni: 'api.example.com', alpn: ['h2', 'http/1.1'], versions: [0x0304, 0x0303] },
    ],
    ['without a name', { minVersion: 'TLSv1.3' }, { sni: null, alpn: [], versions: [0x0304] }],
    [
      'of TLS 1.2 alone',
      { servername: 'a.test', maxVersion: 'TLSv1.2' },
      { sni: 'a.test', alpn: [], versions: [0x0303] },
    ],
    [
      'with a post-quantum key share alone',
      { servername: 'a.test', minVersion: 'TLSv1.3', ecdhCurve: 'X25519MLKEM768' },
      { sni: 'a.test', alpn: [], versions: [0x0304] },
    ],
  ]
  for (const [name, options, want] of cases) {
    it(`is read ${name}, split at every byte`, async () => {
      const bytes = await captureHello(options)
      assert.deepEqual(readClientHello(bytes), { kind: 'hello', ...want, random: bytes.toString('latin1', 11, 43) })
      for (let end = 0; end < bytes.length; end++) {
        assert.equal(readClientHello(bytes.subarray(0, end)).kind, 'more', `cut at ${end}`)
      }
    })
  }

  it('is read when it is split over records of any size', async () => {
    const bytes = await captureHello({ servername: 'a.test' })
    for (const size of [1, 2, 3, 4, 5, 100, 1000]) {
      const split = inRecords(bytes.subarray(5), size)
      const result = readClientHello(split)
      assert.equal(result.kind === 'hello' && result.sni, 'a.test')
      for (let end = 0; end < split.length; end += 97) {
        assert.equal(readClientHello(split.subarray(0, end)).kind, 'more')
      }
    }
  })
})

describe('ClientHello rules', () => {
  const random = '\x07'.repeat(32)

  it('drops one trailing dot and the reserved versions', () => {
    const result = readClientHello(helloWith([sni('A.test.'), [43, [6, 0x8a, 0x8a, 3, 4, 3, 3]]]))
    assert.deepEqual(result, { kind: 'hello', sni: 'a.test', alpn: [], versions: [0x0304, 0x0303], random })
  })

  it('takes a hello without extensions', () => {
    assert.deepEqual(readClientHello(helloWith(null)), {
      kind: 'hello',
      sni: null,
      alpn: [],
      versions: [0x0303],
      random,
    })
  })

  const malformed: [string, Buffer][] = [
    ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['SSL 2', Buffer.from([0x80, 0x2e, 0x01])],
    ['an alert', Buffer.from([0x15, 3, 3, 0, 2, 2, 40])],
    ['an empty record', Buffer.from([0x16, 3, 1, 0, 0])],
    ['a record beyond 16 KiB', Buffer.from([0x16, 3, 1, 0x40, 1])],
    ['a message beyond 16 KiB', Buffer.from([0x16, 3, 1, 0x20, 0, 1, 0, 0x40, 0])],
    ['another message', Buffer.from([0x16, 3, 1, 0, 4, 2])],
    ['a repeated extension', helloWith([sni('a.test'), sni('b.test')])],
    ['an empty name', helloWith([sni('')])],
    ['a name that is only a dot', helloWith([sni('.')])],
    ['a name with an empty label', helloWith([sni('a..test')])],
    ['a name with a space', helloWith([sni('a test')])],
    ['a name with NUL', helloWith([sni('a.test\0')])],
    ['a wildcard name', helloWith([sni('*.test')])],
    ['a name over 255 bytes', helloWith([sni('a'.repeat(256))])],
    ['two names', helloWith([[0, [0, 8, 0, 0, 1, 97, 0, 0, 1, 98]]])],
    ['a name list shorter than its extension', helloWith([[0, [0, 4, 0, 0, 1, 97, 0]]])],
    ['a name longer than its list', helloWith([[0, [0, 4, 0, 0, 9, 97]]])],
    ['an empty protocol', helloWith([[16, [0, 1, 0]]])],
    ['an odd list of versions', helloWith([[43, [3, 3, 4, 3]]])],
    ['a name with a port', helloWith([sni('a.test:443')])],
    ['a hello that ends inside its random bytes', helloOf([3, 3, 7, 7])],
    ['a hello without a session', helloOf([3, 3, ...RANDOM])],
    ['a session of 33 bytes', helloOf([3, 3, ...RANDOM, 33, ...Array<number>(33).fill(1), ...SUITES, 1, 0])],
    ['a hello without cipher suites', helloOf([3, 3, ...RANDOM, 0, 0, 0, 1, 0])],
    ['half a cipher suite', helloOf([3, 3, ...RANDOM, 0, 0, 3, 0x13, 0x01, 0x13, 1, 0])],
    ['a hello without compressions', helloOf([3, 3, ...RANDOM, 0, ...SUITES, 0])],
    ['a hello that ends before its compressions', helloOf([3, 3, ...RANDOM, 0, ...SUITES])],
    ['bytes behind the extensions', helloOf([3, 3, ...RANDOM, 0, ...SUITES, 1, 0, 0, 0, 9])],
    ['extensions that are longer than the hello', helloOf([3, 3, ...RANDOM, 0, ...SUITES, 1, 0, 0, 1])],
    ['an extension beyond the hello', corruptLastLength(helloWith([[99, [1, 2]]]))],
  ]
  for (const [name, bytes] of malformed) {
    it(`refuses ${name}`, () => assert.equal(readClientHello(bytes).kind, 'refused'))
  }

  it('takes a session of 32 bytes, and a name of 255 or of an IPv6 address', () => {
    const session = [32, ...Array<number>(32).fill(1)]
    assert.equal(readClientHello(helloOf([3, 3, ...RANDOM, ...session, ...SUITES, 1, 0])).kind, 'hello')
    for (const name of ['a'.repeat(255), '2001:db8::1', '::']) {
      const hello = readClientHello(helloWith([sni(name)]))
      assert.equal(hello.kind === 'hello' && hello.sni, name)
    }
  })

  it('waits for the rest of a record and of a message of exactly 16 KiB', () => {
    assert.equal(readClientHello(Buffer.from([0x16, 3, 1, 0x40, 0])).kind, 'more')
    assert.equal(readClientHello(Buffer.from([0x16, 3, 1, 0x20, 0, 1, 0, 0x3f, 0xfc])).kind, 'more')
    assert.equal(readClientHello(Buffer.from([0x16, 3, 1, 0x20, 0, 1, 0, 0x3f, 0xfd])).kind, 'refused')
  })

  it('holds at most 16 KiB', () => {
    const body = Buffer.alloc(10_000)
    body.writeUInt32BE(0x01_00_27_00)
    assert.equal(readClientHello(inRecords(body, 1).subarray(0, 16 * 1024 - 1)).kind, 'more')
    assert.equal(readClientHello(inRecords(body, 1).subarray(0, 16 * 1024)).kind, 'refused')
  })
})

describe('ClientHello properties', () => {
  it('never throws on random bytes', () => {
    const start = fc.constantFrom([], [0x16, 3, 1], [0x16, 3, 1, 1, 0, 1, 0, 0, 0xfc, 3, 3])
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 400 }), (prefix, bytes) => {
        readClientHello(Buffer.concat([Buffer.from(prefix), bytes]))
      }),
      { seed: 1, numRuns: 3000 },
    )
  })

  it('never throws on a real hello with changed bytes', async () => {
    const original = await captureHello({ servername: 'a.test', ALPNProtocols: ['h2'] })
    const change = fc.tuple(fc.nat(original.length - 1), fc.nat(255))
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = Buffer.from(original)
        for (const [index, value] of changes) bytes[index] = value
        const result = readClientHello(bytes)
        if (result.kind === 'hello' && result.sni !== null) assert.match(result.sni, /^[a-z0-9_.:-]+$/)
      }),
      { seed: 2, numRuns: 3000 },
    )
  })
})

async function captureHello(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect({ ...options, host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  client.on('error', () => {})
  const [socket] = (await once(server, 'connection')) as [Socket]
  let bytes = Buffer.alloc(0)
  while (bytes.length < 5 || bytes.length < 5 + bytes.readUInt16BE(3)) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    bytes = Buffer.concat([bytes, chunk])
  }
  socket.destroy()
  client.destroy()
  server.close()
  await once(server, 'close')
  return bytes
}

function inRecords(message: Buffer, size: number): Buffer {
  const records: Buffer[] = []
  for (let offset = 0; offset < message.length; offset += size) {
    const fragment = message.subarray(offset, offset + size)
    records.push(Buffer.from([0x16, 3, 1, fragment.length >> 8, fragment.length & 255]), fragment)
  }
  return Buffer.concat(records)
}

function helloWith(extensions: [type: number, body: number[]][] | null): Buffer {
  const list = (extensions ?? []).flatMap(([type, body]) => [...uint16(type), ...uint16(body.length), ...body])
  const start = [3, 3, ...RANDOM, 0, ...SUITES, 1, 0]
  return helloOf(extensions === null ? start : [...start, ...uint16(list.length), ...list])
}

function helloOf(body: readonly number[]): Buffer {
  return inRecords(Buffer.from([1, 0, ...uint16(body.length), ...body]), 16_000)
}

function sni(name: string): [number, number[]] {
  const entry = [0, ...uint16(name.length), ...Buffer.from(name, 'latin1')]
  return [0, [...uint16(entry.length), ...entry]]
}

function uint16(value: number): number[] {
  return [value >> 8, value & 255]
}

function corruptLastLength(hello: Buffer): Buffer {
  hello.writeUInt8(3, hello.length - 3)
  return hello
}
