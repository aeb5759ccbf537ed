import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { constants } from 'node:http2'
import { connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import { generationOf } from '@portico/gateway/stream'
import { irOf, reviewed, usePublisher } from '../testing/publisher-scene.ts'

const run = promisify(execFile)
const hasCurl = /HTTP2/.test((await run('curl', ['--version']).catch(() => ({ stdout: '' }))).stdout)
const hello = { type: 'hello', gateway: 'shop/web', instance: 'web-1', version: '1', have: null } as const

describe('nothing is sent to', () => {
  for (const [who, token, status, reason] of [
    ['a client without a token', null, 401, 'no_token'],
    ['a client with a text that is no token', 'a b', 401, 'no_token'],
    ['a token that is not valid', 'bad', 401, 'token'],
    ['a token of another Gateway', 'shop/api/pod', 403, 'foreign_gateway'],
    ['a token of the same name in another namespace', 'bank/web/pod', 403, 'foreign_gateway'],
  ] as const) {
    it(who, async (t) => {
      const { publisher, connect, logged } = await usePublisher(t)
      publisher.publish('shop/web', irOf(3))
      const client = await connect({ token }).hello().ended()
      assert.equal(client.status, status)
      assert.deepEqual(client.messages, [])
      assert.equal(publisher.counts.refused[reason], 1)
      assert.equal(publisher.counts.bytes, 0)
      assert.equal(publisher.stateOf('shop/web').connected, 0)
      assert.match(logged.join('\n'), new RegExp(`stream rejected .*"reason":"${reason}"`))
    })
  }

  it('a token for another audience', async (t) => {
    const why = 'the token is not for the audience portico'
    const { publisher, connect, logged } = await usePublisher(t, { review: () => Promise.resolve({ ok: false, why }) })
    publisher.publish('shop/web', irOf(3))
    const client = await connect().hello().ended()
    assert.deepEqual([client.status, client.messages], [401, []])
    assert.match(logged.join(), /audience portico/)
    assert.doesNotMatch(logged.join() + client.text, /good/)
  })

  it('any client while tokens cannot be reviewed', async (t) => {
    const review = (): Promise<never> => Promise.reject(new Error('the API server is away'))
    const { publisher, connect } = await usePublisher(t, { review })
    publisher.publish('shop/web', irOf(3))
    const client = await connect().hello().ended()
    assert.deepEqual([client.status, client.messages], [503, []])
    assert.equal(publisher.counts.refused.review_failed, 1)
  })

  it('a client that does not trust the authority', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    const { ca } = await usePublisher(t)
    const client = await connect({ ca }).hello().ended()
    assert.match(client.error ?? '', /certificate/)
    await until(() => publisher.counts.refused.handshake === 1)
  })

  it('a client of another protocol', async (t) => {
    const { publisher, port, ca } = await usePublisher(t)
    const http1 = connectTls({ port, host: '127.0.0.1', ca, ALPNProtocols: ['http/1.1'] })
    http1.on('error', () => {})
    await closed(http1)
    const plain = connectTcp(port, '127.0.0.1', () => plain.write('GET / HTTP/1.1\r\n\r\n'))
    plain.on('error', () => {}).resume()
    await closed(plain)
    await until(() => publisher.counts.refused.handshake === 2)
  })

  it('other paths', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    assert.equal((await connect({ path: '/v1/streams' }).hello().ended()).status, 404)
    assert.equal(publisher.counts.refused.unknown_path, 1)
  })
})

describe('limits', () => {
  it('end a stream without a first line', async (t) => {
    const { publisher, connect } = await usePublisher(t, { limits: { helloLimitMs: 30 } })
    assert.equal((await connect().ended()).status, 408)
    assert.equal(publisher.counts.refused.no_hello, 1)
  })

  it('end a connection without a stream', async (t) => {
    const { port, ca } = await usePublisher(t, { limits: { helloLimitMs: 30 } })
    const socket = connectTls({ port, host: '127.0.0.1', ca, ALPNProtocols: ['h2'] })
    socket.on('error', () => {}).resume()
    await closed(socket)
  })

  it('apply to lines, before and after the first', async (t) => {
    const { publisher, connect } = await usePublisher(t, { limits: { lineLimit: 1_000 } })
    const long = connect()
    long.stream.write('x'.repeat(1_001))
    assert.equal((await long.ended()).status, 400)
    const later = await connect().hello().received('ping')
    later.stream.write(`${'x'.repeat(1_001)}\n`)
    await later.ended()
    assert.deepEqual(later.of('goodbye'), [{ type: 'goodbye', reason: 'a line is longer than 1000 bytes' }])
    assert.equal(publisher.counts.refused.malformed, 2)
  })

  it('apply to the streams of one data plane, not to those of others', async (t) => {
    const { publisher, connect } = await usePublisher(t, { limits: { mostStreams: 1 } })
    const open = async (token: string, instance: string) => {
      const client = connect({ token }).hello({ instance })
      await client.received('ping').catch(() => undefined)
      return client
    }
    const one = await open('shop/web/a', '1')
    assert.equal((await open('shop/web/a', '2')).status, 429)
    assert.equal((await open('shop/web/b', '3')).status, 200)
    one.close()
    await until(() => publisher.stateOf('shop/web').connected === 1)
    assert.equal((await open('shop/web/a', '4')).status, 200)
    assert.equal(publisher.counts.refused.too_many_streams, 1)
  })

  it('apply to tokens under review', async (t) => {
    const waiting: (() => void)[] = []
    const review = async (token: string) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return reviewed(token)
    }
    const { publisher, connect } = await usePublisher(t, { review, limits: { mostReviews: 2 } })
    const first = [connect().hello({ instance: 'a' }), connect().hello({ instance: 'b' })]
    await until(() => waiting.length === 2)
    const third = await connect().hello({ instance: 'c' }).ended()
    assert.deepEqual([third.status, publisher.counts.refused.busy], [503, 1])
    for (const resolve of waiting) resolve()
    for (const client of first) await client.received('ping')
  })
})

describe('malformed lines', () => {
  for (const [what, line] of [
    ['no JSON', 'hello'],
    ['another message first', JSON.stringify({ type: 'pong' })],
    ['a Gateway without a namespace', JSON.stringify({ ...hello, gateway: 'web' })],
    ['a message that only a newer one has', JSON.stringify({ type: 'health', workers: 2 })],
    ['no UTF-8', Buffer.from([0xff, 0xfe])],
  ] as const) {
    it(`${what} is rejected at the start`, async (t) => {
      const { publisher, connect } = await usePublisher(t)
      publisher.publish('shop/web', irOf(1))
      const client = connect()
      client.stream.write(line)
      client.stream.write('\n')
      await client.ended()
      assert.deepEqual([client.status, client.messages], [400, []])
      assert.equal(publisher.counts.refused.malformed, 1)
    })
  }

  it('end an accepted stream, and only that stream', async (t) => {
    const { publisher, connect } = await usePublisher(t)
    publisher.publish('shop/web', irOf(1))
    const [good, bad] = [connect({ token: 'shop/web/a' }), connect({ token: 'shop/web/b' })]
    good.hello({ instance: 'a' })
    bad.hello({ instance: 'b' })
    for (const client of [good, bad]) await client.received('config')
    bad.hello({ instance: 'b' })
    await bad.ended()
    assert.equal(bad.of('goodbye')[0]?.reason, 'hello may be sent only once')
    good.ack()
    await until(() => publisher.stateOf('shop/web').acknowledged)
    assert.equal(publisher.stateOf('shop/web').connected, 1)
  })

  it('from curl are rejected with a status', { skip: !hasCurl && 'curl with HTTP/2 is not installed' }, async (t) => {
    const { publisher, port, ca } = await usePublisher(t)
    publisher.publish('shop/web', irOf(1))
    const folder = mkdtempSync(join(tmpdir(), 'portico-stream-'))
    t.after(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'ca.crt'), ca)
    const post = async (body: string, token = 'good'): Promise<string> => {
      const url = `https://127.0.0.1:${port}/v1/stream`
      const options = ['--http2', '--silent', '--show-error', '--max-time', '60', '--cacert', join(folder, 'ca.crt')]
      const more = ['--header', `authorization: Bearer ${token}`, '--data-binary', body, '--write-out', '%{http_code}']
      return (await run('curl', [...options, ...more, url])).stdout
    }
    assert.equal(await post('{"type":"hello"}\n'), 'malformed line\n400')
    assert.equal(await post(`${JSON.stringify(hello)}\n`, 'shop/api/x'), 'token belongs to another Gateway\n403')
    assert.equal(await post(`${JSON.stringify(hello)}\n`, 'nobody'), 'token rejected\n401')
    // A valid hello alone gets a config or the end of the stream, never a protocol error.
    assert.match(await post(`${JSON.stringify(hello)}\n`), /200$/)
    assert.deepEqual([publisher.counts.refused.malformed, publisher.counts.refused.foreign_gateway], [1, 1])
  })
})

describe('streams that end before the response', () => {
  for (const [when, token, first] of [
    ['without a token', null, ''],
    ['with a bad token', 'bad', ''],
    ['with a bad first line', 'good', 'hello\n'],
    ['with a good first line', 'good', `${JSON.stringify(hello)}\n`],
    ['with a line against the rules after it', 'good', `${JSON.stringify(hello)}\n`.repeat(2)],
  ] as const) {
    it(`${when} do no harm`, async (t) => {
      const { publisher, connect } = await usePublisher(t, { limits: { mostStreams: 1_000 } })
      publisher.publish('shop/web', irOf(1))
      for (const pause of [0, 0, 0, 1, 2, 5, 10]) {
        for (const how of ['reset', 'session', 'socket'] as const) {
          const client = connect({ token })
          if (first !== '') client.stream.write(first)
          if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause))
          else await once(client.session, 'connect').catch(() => undefined)
          if (how === 'reset') client.stream.close(constants.NGHTTP2_CANCEL)
          else if (how === 'session') client.session.destroy()
          else client.session.socket.destroy()
          await client.ended()
          client.close()
        }
      }
      const good = await connect({ token: 'shop/web/good' }).hello({ instance: 'good' }).received('config')
      assert.deepEqual(good.ir, irOf(1))
      await until(() => publisher.stateOf('shop/web').connected === 1)
    })
  }

  for (const [when, token, data] of [
    ['without a token', '', ''],
    ['with a token', 'good', ''],
    ['with a bad first line', 'good', 'hello\n'],
    ['with a good first line', 'good', `${JSON.stringify(hello)}\n`],
  ] as const) {
    it(`${when}, in one packet with their own end, do no harm`, async (t) => {
      const { publisher, connect, port, ca } = await usePublisher(t, { limits: { mostStreams: 1_000 } })
      publisher.publish('shop/web', irOf(1))
      const socket = connectTls({ port, host: '127.0.0.1', ca, ALPNProtocols: ['h2'] })
      socket.on('error', () => {}).resume()
      await once(socket, 'secureConnect')
      const streams = Array.from({ length: 20 }, (_, index) => streamFrames(2 * index + 1, token, data))
      socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0), ...streams]))
      const good = await connect({ token: 'shop/web/good' }).hello({ instance: 'good' }).received('config')
      assert.deepEqual(good.ir, irOf(1))
      socket.destroy()
      await until(() => publisher.stateOf('shop/web').connected === 1)
    })
  }
})

describe('a data plane that does not read', () => {
  it('makes the controller keep only the newest config, and gets that when it reads again', async (t) => {
    // Pings are off, so that a slow run does not time out.
    const { publisher, connect } = await usePublisher(t, { pingEveryMs: 3_600_000 })
    const big = (round: number) => irOf(200, { 0: `round-${round}.example` }, 'x'.repeat(10_000))
    const slow = await connect({ token: 'shop/web/slow' }).hello({ instance: 'slow' }).received('ping')
    slow.stream.pause()
    const quick = await connect({ token: 'shop/web/quick' }).hello({ instance: 'quick' }).received('ping')
    // Both are connected, so that the first config is the same line for both.
    publisher.publish('shop/web', big(0))
    for (let round = 1; round <= 10; round++) {
      await quick.received('config', round)
      quick.ack()
      publisher.publish('shop/web', big(round))
      publisher.reach('shop/web', { a: [`10.0.0.${round}:80`] })
    }
    await quick.received('config', 11)
    // Ten configs for the fast one, and the first for both: the slow one got nothing else.
    assert.equal(publisher.counts.messages.config, 12)
    assert.equal(publisher.counts.lines, 11)
    slow.stream.resume()
    await slow.received('config')
    slow.ack()
    await slow.received('config', 2)
    assert.equal(slow.of('config')[1]?.generation, generationOf(big(10)))
    assert.deepEqual(slow.endpoints, { a: ['10.0.0.10:80'] })
  })

  it('and is silent is cut off, also one that is only silent', async (t) => {
    const { publisher, connect } = await usePublisher(t, { pingEveryMs: 20 })
    publisher.publish('shop/web', irOf(200, {}, 'x'.repeat(50_000)))
    const deaf = connect({ token: 'shop/web/deaf' }).hello({ instance: 'deaf' })
    deaf.stream.pause()
    const mute = connect({ token: 'shop/web/mute' })
    mute.send = () => mute
    mute.stream.write(`${JSON.stringify({ ...hello, instance: 'mute' })}\n`)
    await Promise.all([deaf.ended(), mute.ended()])
    await until(() => publisher.stateOf('shop/web').connected === 0)
    assert.equal(publisher.counts.refused.silent, 2)
  })
})

function until(isTrue: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => void (isTrue() ? resolve() : setTimeout(check, 5))
    check()
  })
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

/** The frames of a stream from HEADERS to RST_STREAM (RFC 9113 section 6) in one buffer. */
function streamFrames(id: number, token: string, data: string): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value)])
  // Indexed `:method: POST` and `:scheme: https`; indexed names with literal values (RFC 7541 section 6).
  const head = [Buffer.of(0x83, 0x87, 0x04), text('/v1/stream'), Buffer.of(0x01), text('x')]
  if (token !== '') head.push(Buffer.of(0x0f, 0x08), text(`Bearer ${token}`))
  const frames = [frame(1, 4, id, Buffer.concat(head))]
  if (data !== '') frames.push(frame(0, 0, id, Buffer.from(data)))
  return Buffer.concat([...frames, frame(3, 0, id, Buffer.of(0, 0, 0, 8))])
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.of()): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.set([type, flags], 3)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
