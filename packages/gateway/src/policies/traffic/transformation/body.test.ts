import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { exchangeRaw, request, sendRaw } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, routeTo, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'

async function setUp(t: TestContext, transformation: object, handler?: OriginHandler, policies: object = {}) {
  const origin = await useOrigin(t, handler)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { transformation, ...policies })]))
  return { origin, gateway, port: gateway.port() }
}

const results: [expression: string, bytes: string | Buffer][] = [
  ['"grün"', 'grün'],
  ['b"\\x00\\xff"', Buffer.from([0, 255])],
  ['$.body', 'hello'],
  ['string($.body).upperAscii()', 'HELLO'],
  ['{"size": size($.body), "list": [1, true, null, "x"]}', '{"size":5,"list":[1,true,null,"x"]}'],
  ['json($.body).a', ''],
  ['42', '42'],
  ['null', 'null'],
  ['jwt.sub', ''],
  ['""', ''],
]

test('texts and bytes become the body as they are, anything else as JSON; without a value it is empty', async (t) => {
  for (const [expression, expected] of results) {
    const body = expression.replaceAll('$', 'request')
    const bytes = Buffer.from(expected)
    const echo = await useTcpServer(t, (socket) => {
      let received = ''
      socket.setEncoding('latin1').on('data', (text) => {
        received += text
        const at = received.indexOf('\r\n\r\n') + 4
        if (at >= 4 && received.length >= at + bytes.length) {
          socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${received.length}\r\n\r\n${received}`, 'latin1')
        }
      })
    })
    const gateway = await useGateway(t, httpConfig([routeTo(echo, { transformation: { request: { body } } })]))
    const { body: seen } = await request(gateway.port(), { method: 'POST', body: 'hello' })
    const [head, sent] = seen.split(/\r\n\r\n(.*)/s) as [string, string]
    assert.match(head, new RegExp(`^content-length: ${bytes.length}$`, 'm'), body)
    assert.ok(Buffer.from(sent, 'latin1').equals(bytes), `${body}: ${sent}`)
    await gateway.close()
  }
})

test('the same holds for responses, whatever the backend said of their length', async (t) => {
  for (const [expression, expected] of results) {
    const body = expression.replaceAll('$', 'response')
    for (const chunked of [true, false]) {
      const { port, gateway } = await setUp(t, { response: { body } }, (_seen, response) => {
        if (chunked) response.write('hel')
        response.end(chunked ? 'lo' : 'hello')
      })
      const { headers, body: sent } = await request(port)
      const bytes = Buffer.from(expected)
      assert.equal(headers['content-length'], String(bytes.length), body)
      assert.equal(headers['transfer-encoding'], undefined)
      assert.ok(Buffer.from(sent, 'latin1').equals(bytes), `${body}: ${sent}`)
      await gateway.close()
    }
  }
})

test('a body that fails is noted in the trace', async (t) => {
  const { port, gateway } = await setUp(t, { request: { body: 'json(request.body).name' } })
  const watched = gateway.trace()
  await request(port, { method: 'POST', body: '{"id":1}' })
  const policy = (await watched).find(({ message }) => message['kind'] === 'transformation')
  assert.deepEqual(policy?.message['result'], {
    type: 'apply',
    details: { 'body failed': 'no such key: name' },
  })
})

test('a request without a body gets one, and one that stays without says nothing of its length', async (t) => {
  const filled = await setUp(t, { request: { body: '"new"' } })
  await request(filled.port)
  assert.equal(filled.origin.seen[0]!.body, 'new')
  assert.equal(filled.origin.seen[0]!.headers['content-length'], '3')
  const empty = await setUp(t, { request: { body: 'request.body' } })
  await request(empty.port)
  assert.equal(empty.origin.seen[0]!.headers['content-length'], undefined)
  assert.equal(empty.origin.seen[0]!.headers['transfer-encoding'], undefined)
})

test('a chunked body is read whole, in whatever pieces it comes', async (t) => {
  const { port, origin } = await setUp(t, {
    request: { set: [{ name: 'x-size', value: 'size(request.body)' }] },
  })
  const chunks = Array.from({ length: 3000 }, (_, i) => `1\r\n${i % 10}\r\n`)
  const head = 'POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n'
  await sendRaw(port, `${head}${chunks.join('')}0\r\n\r\n`)
  assert.equal(origin.seen[0]!.headers['x-size'], '3000')
  assert.equal(origin.seen[0]!.headers['content-length'], '3000')
  assert.equal(origin.seen[0]!.body, '0123456789'.repeat(300))
})

test('trailers follow a body that was read, also one that was replaced', async (t) => {
  for (const body of ['request.body', '"new"']) {
    const { port, origin } = await setUp(t, {
      request: { body, set: [{ name: 'x-size', value: 'size(request.body)' }] },
    })
    const head = 'POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n'
    await sendRaw(port, `${head}5\r\nhello\r\n0\r\nx-sum: 9\r\n\r\n`)
    assert.equal(origin.seen[0]!.body, body === '"new"' ? 'new' : 'hello')
    assert.equal(origin.seen[0]!.trailers['x-sum'], '9')
  }
})

test('trailers of a response follow it too', async (t) => {
  const { port } = await setUp(t, { response: { body: 'string(response.body).upperAscii()' } }, (_seen, response) => {
    response.writeHead(200, { trailer: 'x-sum' })
    response.write('hello')
    response.addTrailers({ 'x-sum': '9' })
    response.end()
  })
  const { text, headers } = await request(port, { headers: { te: 'trailers', connection: 'te, close' } })
  assert.equal(headers['transfer-encoding'], 'chunked')
  assert.match(text, /5\r\nHELLO\r\n0\r\nx-sum: 9\r\n\r\n$/)
})

test('expressions see compressed bodies as they travel', async (t) => {
  const { port, origin } = await setUp(
    t,
    {
      request: { set: [{ name: 'x-size', value: 'size(request.body)' }] },
      response: { set: [{ name: 'x-size', value: 'size(response.body)' }] },
    },
    (_seen, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('world')),
  )
  const zipped = gzipSync('hello')
  const head = `POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-encoding: gzip\r\ncontent-length: ${zipped.length}\r\n\r\n`
  const { headers, body } = await sendRaw(port, Buffer.concat([Buffer.from(head), zipped]))
  assert.equal(origin.seen[0]!.headers['x-size'], String(zipped.length))
  assert.equal(headers['x-size'], String(gzipSync('world').length))
  assert.equal(gunzipSync(Buffer.from(body, 'latin1')).toString(), 'world')
})

// Messages that cannot have a body.

test('HEAD keeps no length of a body that would have been replaced', async (t) => {
  const { port } = await setUp(t, { response: { body: '"something else"' } })
  const { status, headers, text } = await request(port, { method: 'HEAD' })
  assert.equal(status, 200)
  assert.equal(headers['content-length'], undefined)
  assert.match(text, /\r\n\r\n$/)
})

test('204 and 304 stay without a body, and the connection goes on', async (t) => {
  for (const code of [204, 304]) {
    const { port } = await setUp(
      t,
      { response: { body: '"something"', set: [{ name: 'x-size', value: 'size(response.body)' }] } },
      (_seen, response) => response.writeHead(code, code === 304 ? { 'content-length': '70' } : {}).end(),
    )
    const get = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
    const last = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
    const text = await everything(port, get + last)
    assert.equal(text.split(`HTTP/1.1 ${code} `).length, 3, text)
    assert.equal(text.split('x-size: 0\r\n').length, 3)
    assert.doesNotMatch(text, /something/)
  }
})

test('a status that changes whether there is a body changes the framing with it', async (t) => {
  const to = (status: number, body?: string) => ({
    response: { set: [{ name: ':status', value: String(status) }], ...(body && { body }) },
  })
  const cases: [from: number, transformation: object, status: number, body: string][] = [
    [304, to(200), 200, ''],
    [304, to(200, '"new"'), 200, 'new'],
    [204, to(200, '"new"'), 200, 'new'],
    [200, to(204), 204, ''],
    [200, to(204, '"new"'), 204, ''],
    [200, to(304), 304, ''],
  ]
  for (const [from, transformation, status, body] of cases) {
    const { port } = await setUp(t, transformation, (_seen, response) => {
      response.writeHead(from, { 'content-length': '5' }).end(from === 200 ? 'hello' : undefined)
    })
    const get = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
    const last = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
    const answers = (await everything(port, get + last)).split(/(?=HTTP\/1.1 )/)
    assert.equal(answers.length, 2)
    for (const answer of answers) {
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
      assert.equal(answer.slice(answer.indexOf('\r\n\r\n') + 4), body)
      if (status === 200) assert.match(answer, new RegExp(`content-length: ${body.length}\r\n`))
    }
  }
})

test('a method that changes whether there is a body changes the framing with it', async (t) => {
  for (const [from, to] of [
    ['GET', 'HEAD'],
    ['HEAD', 'GET'],
  ]) {
    const { port } = await setUp(t, { request: { set: [{ name: ':method', value: `"${to}"` }] } })
    const one = `${from} / HTTP/1.1\r\nhost: a\r\n\r\n`
    const last = `${from} / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`
    const answers = (await everything(port, one + last)).split(/(?=HTTP\/1.1 )/)
    assert.equal(answers.length, 2)
    for (const answer of answers) {
      assert.match(answer, from === 'GET' ? /content-length: 0\r\n/i : /content-length: 2\r\n/i)
      assert.match(answer, /\r\n\r\n$/)
    }
  }
})

// Retries.

test('every attempt sends the new body', async (t) => {
  let left = 2
  const { port, origin } = await setUp(
    t,
    { request: { body: '"<" + string(request.body) + ">" + string(random())' } },
    (_seen, response) => response.writeHead(left-- > 0 ? 503 : 200).end('done'),
    { retry: { attempts: 2, codes: [503] } },
  )
  const { status } = await request(port, { method: 'POST', body: 'hello' })
  assert.equal(status, 200)
  const bodies = origin.seen.map(({ body }) => body)
  assert.equal(bodies.length, 3)
  assert.match(bodies[0]!, /^<hello>0\.\d+/)
  assert.deepEqual(new Set(bodies).size, 1)
})

/** All that comes until the gateway closes the connection. */
function everything(port: number, bytes: string): Promise<string> {
  return exchangeRaw(port, bytes, () => false)
}
