import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metadata, type sendUnaryData, type ServerUnaryCall, status as codes } from '@grpc/grpc-js'
import {
  textMethod,
  useGrpcClient,
  useHttp2Server,
  useTextServer,
} from '../../../../gateway/src/testing/services/grpc.ts'
import { closedPort, until, useTcpServer } from '../../../../gateway/src/testing/scene.ts'
import { callUnary, type GrpcOptions } from './call.ts'
import type { GrpcError } from './status.ts'

type Unary = ServerUnaryCall<string, string>
type SendUnary = sendUnaryData<string>

/** Returns the response, or `code: message`. */
function ask(options: GrpcOptions, text: string, timeoutMs = 10_000): Promise<string> {
  return new Promise((resolve) => {
    callUnary(textMethod('Unary'), text, { ...options, timeoutMs }, (error, response) =>
      resolve(error === null ? String(response) : said(error)),
    )
  })
}

const said = ({ code, message }: GrpcError): string => `${code}: ${message}`

test('one message goes out, one comes back', async (t) => {
  const port = await useTextServer(t, { Unary: (call: Unary, done: SendUnary) => done(null, `${call.request}!`) })
  const client = useGrpcClient(t, port)
  assert.equal(await ask(client, 'hello'), 'hello!')
  const long = 'x'.repeat(900_000)
  assert.equal(await ask(client, long), `${long}!`)
  assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((text) => ask(client, text))), ['a!', 'b!', 'c!'])
})

test('metadata and the time that is left go with the call', async (t) => {
  const seen: Metadata[] = []
  const port = await useTextServer(t, {
    Unary(call: Unary, done: SendUnary) {
      seen.push(call.metadata)
      done(null, String(new Date(call.getDeadline()).getTime()))
    },
  })
  const client = { ...useGrpcClient(t, port), metadata: [['x-tenant', 'a']] as const }
  const before = Date.now()
  const deadline = Number(await ask(client, 'x'))
  assert.deepEqual(seen[0]?.get('x-tenant'), ['a'])
  assert.ok(deadline >= before + 9_900 && deadline <= Date.now() + 10_000, String(deadline - before))
})

test('a status is told with its text', async (t) => {
  const port = await useTextServer(t, {
    Unary: (call: Unary, done: SendUnary) => done({ code: codes.RESOURCE_EXHAUSTED, details: call.request }),
  })
  const client = useGrpcClient(t, port)
  assert.equal(await ask(client, 'no more: 100 % für heute'), '8: no more: 100 % für heute')
})

test('a method that does not exist is reported as UNIMPLEMENTED', async (t) => {
  const port = await useTextServer(t, { Other: () => {} })
  assert.match(await ask(useGrpcClient(t, port), 'x'), /^12: /)
})

test('a call has its time and no more, and the server hears of it', async (t) => {
  const cancelled: string[] = []
  const port = await useTextServer(t, {
    Unary: (call: Unary) => call.on('cancelled', () => cancelled.push(call.request)),
  })
  // The server knows the limit too, and may report it first.
  assert.match(await ask(useGrpcClient(t, port), 'slow', 60), /^4: /)
  await until(() => cancelled.length === 1)
})

test('a server that says nothing at all is given up', async (t) => {
  let closed = 0
  const port = await useHttp2Server(t, (stream) => stream.on('close', () => closed++))
  assert.equal(await ask(useGrpcClient(t, port), 'slow', 60), '4: no answer in time')
  await until(() => closed === 1)
})

test('a call that was dropped is cancelled and tells nothing', async (t) => {
  const events: string[] = []
  const port = await useTextServer(t, {
    Unary(call: Unary) {
      events.push('asked')
      call.on('cancelled', () => events.push('cancelled'))
    },
  })
  const options = { ...useGrpcClient(t, port), timeoutMs: 10_000 }
  const call = callUnary(textMethod('Unary'), 'x', options, () => events.push('ended'))
  await until(() => events.length === 1)
  call.drop()
  call.drop()
  await until(() => events.length === 2)
  assert.deepEqual(events, ['asked', 'cancelled'])
})

test('a message that is too long ends the call', async (t) => {
  const port = await useTextServer(t, { Unary: (_: Unary, done: SendUnary) => done(null, 'x'.repeat(2_000_000)) })
  assert.equal(await ask(useGrpcClient(t, port), 'x'), '8: a message of 2000000 bytes is longer than 1000000')
})

test('an unreachable server, or one that does not speak HTTP/2, is an error with a code', async (t) => {
  assert.match(await ask(useGrpcClient(t, await closedPort()), ''), /^14: .*ECONNREFUSED/)
  const banner = await useTcpServer(t, (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'))
  assert.match(await ask(useGrpcClient(t, banner.port), 'x'), /^14: /)
})

test('answers that are not gRPC become codes', async (t) => {
  const answers: [Record<string, string | number>, string][] = [
    [{ ':status': 503 }, '14: the answer is not gRPC (status 503)'],
    [{ ':status': 401 }, '16: the answer is not gRPC (status 401)'],
    [{ ':status': 404 }, '12: the answer is not gRPC (status 404)'],
    [{ ':status': 302 }, '2: the answer is not gRPC (status 302)'],
    [{ ':status': 200, 'content-type': 'text/html' }, '2: the answer is not gRPC (status 200)'],
    [{ ':status': 403, 'grpc-status': '7', 'grpc-message': 'no' }, '7: no'],
    [{ ':status': 200, 'content-type': 'application/grpc' }, '2: the call ended without a status'],
    [
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': 'x' },
      '2: the status of the call is no number',
    ],
    [{ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '0' }, '13: 0 messages came instead of one'],
    [
      { ':status': 200, 'content-type': 'application/grpc+proto', 'grpc-status': '5', 'grpc-message': 'a%zz%' },
      '5: a%zz%',
    ],
  ]
  for (const [fields, expected] of answers) {
    const port = await useHttp2Server(t, (stream) => stream.respond(fields, { endStream: true }))
    assert.equal(await ask(useGrpcClient(t, port), 'x'), expected)
  }
})

test('a broken body ends the call, whatever its trailers say', async (t) => {
  const bodies: [Buffer, RegExp][] = [
    [Buffer.from([1, 0, 0, 0, 1, 65]), /^12: the message is compressed/],
    [Buffer.from([9, 0, 0, 0, 1, 65]), /^13: the message is not framed/],
    [Buffer.from([0, 0, 0, 0, 9, 65]), /^13: the answer ends within a message/],
    [Buffer.from([0, 0]), /^13: the answer ends within a message/],
    [Buffer.from([0, 0, 0, 0, 1, 65, 0, 0, 0, 0, 1, 66]), /^13: 2 messages came instead of one/],
  ]
  for (const [body, expected] of bodies) {
    const port = await useHttp2Server(t, (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.end(body)
    })
    assert.match(await ask(useGrpcClient(t, port), 'x'), expected)
  }
})

test('a message that cannot be decoded ends the call', async (t) => {
  const port = await useTextServer(t, { Unary: (_: Unary, done: SendUnary) => done(null, 'x') })
  const broken = {
    ...textMethod('Unary'),
    decode(): string {
      throw new Error('secret of the server')
    },
  }
  const error = await new Promise<GrpcError | null>((resolve) => {
    callUnary(broken, 'x', { ...useGrpcClient(t, port), timeoutMs: 5_000 }, resolve)
  })
  assert.equal(error?.message, 'a message of the answer cannot be read')
})

test('a stream that is reset in the middle is an error', async (t) => {
  const port = await useHttp2Server(t, (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    // The runtime ends the body before it resets the stream.
    stream.write(Buffer.from([0, 0, 0, 0, 9, 65]), () => stream.close(2))
  })
  assert.match(await ask(useGrpcClient(t, port), 'x'), /^(2|14): /)
})
