import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { sourceOf } from '../body/body.ts'
import type { ConnectionInfo, Exchange } from '../exchange/exchange.ts'
import { HeaderBlock } from '../fields/header-block.ts'
import { Deadlines } from '../runtime/deadlines.ts'
import { BindServer } from '../server/listener.ts'
import { plainHttpBind } from '../server/plain-bind.ts'
import { UpstreamError, type UpstreamRequest } from '../client/upstream-types.ts'
import { type ReceivedResponse, sendOver } from './memory-client.ts'
import { memorySockets } from './memory-socket.ts'

test('bytes arrive in order, and the end after them', async () => {
  const [near, far] = memorySockets()
  const chunks: Buffer[] = []
  far.on('data', (chunk: Buffer) => chunks.push(chunk))
  near.write('one ')
  near.write(Buffer.from('two '))
  near.end('three')
  assert.equal(chunks.length, 0, 'nothing is delivered synchronously')
  await once(far, 'end')
  assert.equal(Buffer.concat(chunks).toString(), 'one two three')
  // The other direction stays open.
  near.resume()
  far.end('four')
  await once(near, 'end')
  assert.deepEqual([near.bytesWritten, near.bytesRead, far.bytesRead], [13, 4, 13])
})

test('a reader that is full holds the writer back until it reads', async () => {
  const [near, far] = memorySockets()
  const size = 1024 * 1024
  for (let sent = 0; sent < 4; sent++) near.write(Buffer.alloc(size))
  await new Promise(setImmediate)
  assert.ok(near.writableLength >= 3 * size, `${near.writableLength} bytes wait`)
  let received = 0
  far.on('data', (chunk: Buffer) => (received += chunk.length))
  near.end()
  await once(far, 'end')
  assert.equal(received, 4 * size)
})

test('a reset is an error at the other side, and writes to a closed side fail', async () => {
  const reset = memorySockets()
  reset[1].resume()
  reset[0].resetAndDestroy()
  const [error] = (await once(reset[1], 'error')) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'ECONNRESET')

  const closed = memorySockets()
  closed[1].resume()
  closed[0].destroy()
  await once(closed[1], 'end')
  closed[1].write('late')
  const [broken] = (await once(closed[1], 'error')) as [NodeJS.ErrnoException]
  assert.equal(broken.code, 'EPIPE')
})

/** Sends a request to a handler over a pair of sockets. */
async function send(
  t: TestContext,
  version: 'HTTP/1.1' | 'HTTP/2',
  request: Partial<UpstreamRequest>,
  handler: (exchange: Exchange) => void,
): Promise<ReceivedResponse | UpstreamError> {
  const deadlines = new Deadlines()
  t.after(() => deadlines.close())
  const [near, far] = memorySockets()
  const admitted = new BindServer(plainHttpBind(handler), deadlines).admitStream(CLIENT)
  assert.ok(typeof admitted === 'function')
  admitted(far)
  const whole = {
    method: 'GET',
    target: '/',
    authority: 'a',
    upgrade: '',
    teTrailers: false,
    headers: new HeaderBlock(),
  }
  return sendOver(near, version, { ...whole, body: sourceOf(Buffer.alloc(0)), ...request }, deadlines)
}

const CLIENT: ConnectionInfo = {
  ...{ address: '127.0.0.1', port: 1, rawAddress: '127.0.0.1', rawPort: 1, source: '127.0.0.1:1' },
  ...{ scheme: 'http', sni: '', handshake: '' },
  destination: () => ({ address: '127.0.0.1', port: 80 }),
  principal: () => '',
}

for (const version of ['HTTP/1.1', 'HTTP/2'] as const) {
  test(`${version}: a request and its response, with interim response and trailers`, async (t) => {
    const received = await send(
      t,
      version,
      { method: 'POST', teTrailers: true, body: sourceOf(Buffer.from('hi')) },
      (exchange) => {
        assert.equal(exchange.version, version)
        exchange.inform(103, HeaderBlock.of([['link', '</a>']]))
        sourceOf(Buffer.from('hello'), HeaderBlock.of([['x-sum', '5']])).pipe(
          exchange.respond(201, new HeaderBlock(), -1),
        )
      },
    )
    assert.ok(!(received instanceof UpstreamError))
    assert.deepEqual([received.status, received.body.toString(), received.trailers?.get('x-sum')], [201, 'hello', '5'])
    assert.deepEqual(
      received.interims.map(({ status }) => status),
      [103],
    )
    assert.equal(received.brokenBy, null)
  })

  test(`${version}: a response that breaks off, and none at all`, async (t) => {
    const broken = await send(t, version, {}, (exchange) => {
      const sink = exchange.respond(200, new HeaderBlock(), 10)
      sink.write(Buffer.from('part'))
      sink.flush()
      setImmediate(() => exchange.reset(new Error('broken')))
    })
    assert.ok(!(broken instanceof UpstreamError))
    assert.deepEqual([broken.status, broken.body.toString(), broken.brokenBy === null], [200, 'part', false])
    const nothing = await send(t, version, {}, (exchange) => exchange.reset(new Error('broken')))
    assert.ok(nothing instanceof UpstreamError)
  })
}
