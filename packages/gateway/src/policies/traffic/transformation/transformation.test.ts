import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request, sendRaw } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'
import type { TraceEvent } from '../../../telemetry/trace/trace-event.ts'

async function setUp(t: TestContext, transformation: object, handler?: OriginHandler) {
  const origin = await useOrigin(t, handler)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { transformation })]))
  return { origin, gateway, port: gateway.port() }
}

/** `{ 'x-a': '"1"' }` as the config has it. */
function fields(expressions: Record<string, string>): { name: string; value: string }[] {
  return Object.entries(expressions).map(([name, value]) => ({ name, value }))
}

function notes(events: readonly TraceEvent[], phase: string): unknown {
  const found = events.find(({ message }) => message['kind'] === 'transformation' && message['phase'] === phase)
  return (found?.message['result'] as { details?: unknown } | undefined)?.details
}

// Headers.

test('set replaces every line of a name, add appends one, remove takes all away', async (t) => {
  const { port, origin } = await setUp(
    t,
    {
      request: {
        set: fields({ 'X-Set': '"new " + request.headers["x-in"]' }),
        add: fields({ 'x-add': '"2"' }),
        remove: ['X-Gone'],
      },
      response: {
        set: fields({ 'x-set': 'string(response.code)', 'x-path': 'request.path' }),
        add: fields({ 'x-add': '"more"' }),
        remove: ['x-secret'],
      },
    },
    (_seen, response) => {
      response.writeHead(201, { 'x-set': ['a', 'b'], 'x-add': 'one', 'x-secret': '1' }).end('ok')
    },
  )
  const lines = ['x-set: old', 'X-SET: older', 'x-in: value', 'x-add: 1', 'x-gone: 1', 'X-Gone: 2', 'x-other: stays']
  const { status, headers } = await sendRaw(port, `GET /p?q HTTP/1.1\r\nhost: a\r\n${lines.join('\r\n')}\r\n\r\n`)
  const seen = origin.seen[0]!
  assert.equal(seen.headers['x-set'], 'new value')
  assert.equal(seen.headers['x-add'], '1, 2')
  assert.equal(seen.headers['x-gone'], undefined)
  assert.equal(seen.headers['x-other'], 'stays')
  assert.equal(status, 201)
  assert.equal(headers['x-set'], '201')
  assert.equal(headers['x-path'], '/p')
  assert.equal(headers['x-add'], 'one, more')
  assert.equal(headers['x-secret'], undefined)
})

test('texts travel as UTF-8, bytes as they are, numbers and truth values as text, lists as lines', async (t) => {
  const { port, origin } = await setUp(t, {
    request: {
      set: fields({
        'x-text': '"grün ✓"',
        'x-bytes': 'b"\\xff\\x41"',
        'x-int': '41 + 1',
        'x-double': '1.5',
        'x-whole': '2.0',
        'x-uint': '7u',
        'x-large': '9223372036854775807',
        'x-bool': '1 < 2',
        'x-time': 'timestamp("2026-01-02T03:04:05Z")',
        'x-span': 'duration("90s")',
        'x-list': '["a", 1, true]',
        'x-empty': '""',
        'x-none': '[]',
        'x-blanks': '" \\t a b\\t "',
      }),
    },
  })
  await request(port, { headers: { 'x-none': 'mine' } })
  const { rawHeaders, headers } = origin.seen[0]!
  const bytes = (name: string): string => Buffer.from(String(headers[name]), 'latin1').toString()
  assert.equal(bytes('x-text'), 'grün ✓')
  assert.equal(headers['x-bytes'], '\xffA')
  assert.equal(headers['x-int'], '42')
  assert.equal(headers['x-double'], '1.5')
  assert.equal(headers['x-whole'], '2')
  assert.equal(headers['x-uint'], '7')
  assert.equal(headers['x-large'], '9223372036854775807')
  assert.equal(headers['x-bool'], 'true')
  assert.equal(headers['x-time'], '2026-01-02T03:04:05Z')
  assert.equal(headers['x-span'], '90s')
  assert.deepEqual(
    rawHeaders.filter((_, i) => rawHeaders[i - 1] === 'x-list'),
    ['a', '1', 'true'],
  )
  assert.equal(headers['x-empty'], '')
  assert.equal(headers['x-none'], undefined)
  assert.equal(headers['x-blanks'], 'a b')
})

test('a header of several lines is a list, and a copy has the same lines and bytes', async (t) => {
  const { port, origin } = await setUp(t, {
    request: {
      set: fields({
        'x-copy': 'request.headers["x-many"]',
        'x-second': 'request.headers["x-many"][1]',
        'x-size': 'size(request.headers["X-Many"])',
        'x-same': 'request.headers["x-utf8"]',
        'x-is': 'request.headers["x-utf8"] == "grün"',
        'x-latin': 'request.headers["x-latin1"]',
      }),
    },
  })
  const head = `GET / HTTP/1.1\r\nhost: a\r\nx-many: a, b\r\nX-Many: c\r\nx-utf8: gr\xc3\xbcn\r\nx-latin1: gr\xfcn\r\n\r\n`
  await sendRaw(port, Buffer.from(head, 'latin1'))
  const { rawHeaders, headers } = origin.seen[0]!
  assert.deepEqual(
    rawHeaders.filter((_, i) => rawHeaders[i - 1] === 'x-copy'),
    ['a, b', 'c'],
  )
  assert.equal(headers['x-second'], 'c')
  assert.equal(headers['x-size'], '2')
  assert.equal(headers['x-same'], 'gr\xc3\xbcn')
  assert.equal(headers['x-is'], 'true')
  // Bytes that are no UTF-8 are read as latin1, and written as UTF-8.
  assert.equal(headers['x-latin'], 'gr\xc3\xbcn')
})

test('a set that fails removes the header, so that a client cannot bring its own; an add that fails adds nothing', async (t) => {
  const { port, origin, gateway } = await setUp(t, {
    request: {
      set: fields({
        'x-user': 'jwt.sub',
        'x-null': 'null',
        'x-map': 'dyn({"a": 1})',
        'x-nested': '["a", ["b"]]',
        'x-long': '"x".replace("x", request.headers["x-sixteen"] + request.headers["x-sixteen"])',
      }),
      add: fields({ 'x-more': 'request.headers["missing"]' }),
    },
  })
  const watched = gateway.trace()
  const sixteen = 'x'.repeat(16_000)
  const headers = { 'x-user': 'admin', 'x-null': '1', 'x-map': '1', 'x-nested': '1', 'x-long': '1', 'x-more': 'kept' }
  await request(port, { headers: { ...headers, 'x-sixteen': sixteen } })
  const seen = origin.seen[0]!.headers
  for (const name of ['x-user', 'x-null', 'x-map', 'x-nested', 'x-long']) assert.equal(seen[name], undefined, name)
  assert.equal(seen['x-more'], 'kept')
  assert.deepEqual(notes(await watched, 'route'), {
    'header x-more failed': 'no such key: request.headers.missing',
    'header x-user failed': 'no such key: jwt.sub',
    'header x-null failed': 'the value has the wrong type or characters',
    'header x-map failed': 'the value has the wrong type or characters',
    'header x-nested failed': 'the value has the wrong type or characters',
    'header x-long failed': 'the value has the wrong type or characters',
  })
})

test('a name that servers take for the one that is set does not get through', async (t) => {
  const { port, origin } = await setUp(t, {
    request: { set: fields({ 'x-user-id': '"7"' }), remove: ['x-admin'] },
  })
  await request(port, {
    headers: { X_User_Id: '1', 'x.user-id': '2', 'x-user_id': '3', x_admin: '1', xx_user_id: '4', 'x-userid': '5' },
  })
  const seen = origin.seen[0]!.headers
  assert.equal(seen['x-user-id'], '7')
  const others = Object.keys(seen).filter((name) => /user|admin/.test(name))
  assert.deepEqual(others.sort(), ['x-user-id', 'x-userid', 'xx_user_id'])
})

test('line breaks and NUL never get into a head', async (t) => {
  const { port, origin } = await setUp(t, {
    request: {
      set: fields({
        'x-a': 'request.headers["x-in"] + "\\r\\nx-evil: 1"',
        'x-b': '"a\\nb"',
        'x-c': 'b"a\\x0db"',
        'x-d': '"a\\u0000b"',
        'x-e': '"\\u010d\\u010a"',
        'x-f': '["a", "b\\r\\nx-evil: 1"]',
        ':path': '"/a HTTP/1.1\\r\\nx-evil: 1\\r\\n\\r\\n"',
        ':method': '"GET / HTTP/1.1\\r\\nx-evil: 1\\r\\n\\r\\n"',
        ':authority': '"a\\r\\nx-evil: 1"',
      }),
      add: fields({ 'x-g': '"a\\u007fb"' }),
    },
    response: { set: fields({ 'x-h': '"a\\r\\n\\r\\nx-evil: 1"', ':status': '"200 OK\\r\\nx-evil: 1"' }) },
  })
  const { text, status, headers } = await request(port, { headers: { 'x-in': '1' } })
  const seen = origin.seen[0]!
  assert.equal(seen.url, '/')
  assert.equal(seen.method, 'GET')
  assert.equal(seen.headers['x-evil'], undefined)
  for (const name of ['x-a', 'x-b', 'x-c', 'x-d', 'x-f', 'x-g']) assert.equal(seen.headers[name], undefined, name)
  // Characters whose low byte would be a line break.
  assert.equal(seen.headers['x-e'], Buffer.from('\u010d\u010a').toString('latin1'))
  assert.equal(status, 200)
  assert.equal(headers['x-h'], undefined)
  assert.doesNotMatch(text, /x-evil/)
})

test('headers that frame a message, and parts that it does not have, are refused at load', async (t) => {
  const refuse = (transformation: object) => assert.rejects(setUp(t, transformation), /transformation/)
  for (const name of [
    'Content-Length',
    'transfer-encoding',
    'connection',
    'upgrade',
    'te',
    'trailer',
    ':status',
    ':scheme',
    ':',
    'a b',
    '',
  ]) {
    await refuse({ request: { set: [{ name, value: '"1"' }] } })
  }
  for (const name of [':path', ':method', ':authority']) await refuse({ response: { set: [{ name, value: '"1"' }] } })
  await refuse({ request: { remove: [':path'] } })
  await refuse({ request: { remove: ['content-length'] } })
  await refuse({ request: { set: [] } })
  await refuse({ request: { add: Array.from({ length: 17 }, (_, i) => ({ name: `x-${i}`, value: '"1"' })) } })
  await refuse({ request: { metadata: {} } })
  await refuse({ request: { set: [{ name: 'x-a', value: 'request.nope' }] } })
  await refuse({ request: { set: [{ name: 'x-a', value: 'response.code' }] } })
  await refuse({ request: { body: '(' } })
})

// The first line.

test('method, path and authority of a request may be set; host is another name of authority', async (t) => {
  const { port, origin, gateway } = await setUp(t, {
    request: {
      set: fields({ ':method': '"PUT"', ':path': '"/v2" + request.pathAndQuery', host: 'request.headers["x-host"]' }),
      add: fields({ ':authority': '"added.test"' }),
    },
  })
  await request(port, { path: '/a?b=1', headers: { 'x-host': 'other.test:81' } })
  const seen = origin.seen[0]!
  assert.equal(seen.method, 'PUT')
  assert.equal(seen.url, '/v2/a?b=1')
  assert.equal(seen.headers.host, 'other.test:81')
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.target, '/a?b=1')
})

test('a value that cannot stand in the first line leaves it as it is, and the trace says so', async (t) => {
  const bad: Record<string, string[]> = {
    ':method': ['"CONNECT"', '"A B"', '""', '"x".replace("x", "' + 'A'.repeat(33) + '")', 'jwt.method', '["GET"]'],
    ':path': [
      '"a"',
      '""',
      '"/a b"',
      '"/a#b"',
      '"/a/../b"',
      '"/%2e%2e/b"',
      '"/a\\\\b"',
      '"/é"',
      '"http://a/b"',
      '["/a"]',
      'dyn({})',
    ],
    ':authority': ['"a b"', '""', '"a/b"', '"user@a"', '"a:b"', '"a,b c"', 'null'],
  }
  for (const [name, expressions] of Object.entries(bad)) {
    for (const value of expressions) {
      const { port, origin, gateway } = await setUp(t, { request: { set: [{ name, value }] } })
      const watched = gateway.trace()
      await request(port, { path: '/own', headers: { host: 'own.test' } })
      const { method, url, headers } = origin.seen[0]!
      assert.deepEqual([method, url, headers.host], ['GET', '/own', 'own.test'], value)
      const details = notes(await watched, 'route') as Record<string, string>
      assert.deepEqual(Object.keys(details), [`header ${name} failed`], value)
      await gateway.close()
    }
  }
})

test('the status of a response may be set, by a number or its text', async (t) => {
  for (const [value, expected] of [
    ['404', 404],
    ['"503"', 503],
    ['response.code + 1', 201],
    ['100', 200],
    ['600', 200],
    ['"abc"', 200],
    ['200.5', 200],
    ['jwt.status', 200],
    ['true', 200],
  ] as const) {
    const { port, gateway } = await setUp(t, { response: { set: [{ name: ':status', value }] } })
    const { status, body } = await request(port)
    assert.equal(status, expected, value)
    assert.equal(body, 'ok')
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.status, expected)
    await gateway.close()
  }
})

// Order, and what expressions see.

test('the order is metadata, add, set, remove, body, and each expression sees the changes before it', async (t) => {
  const { port, origin } = await setUp(t, {
    request: {
      body: 'request.headers["x-set"] + "," + string(has(request.headers["x-gone"]))',
      remove: ['x-gone'],
      set: fields({ 'x-set': 'request.headers["x-add"] + metadata.b', 'x-gone': '"1"' }),
      add: fields({ 'x-add': 'metadata.a' }),
      metadata: { a: '"A"', b: 'metadata.a + "B"' },
    },
  })
  await request(port, { method: 'POST' })
  const seen = origin.seen[0]!
  assert.equal(seen.headers['x-add'], 'A')
  assert.equal(seen.headers['x-set'], 'AAB')
  assert.equal(seen.body, 'AAB,false')
})

test('metadata is seen in the response, keeps the request’s values, and is plain data', async (t) => {
  const { port, gateway } = await setUp(t, {
    request: {
      metadata: {
        team: 'request.headers["x-team"]',
        bytes: 'b"abc"',
        when: 'timestamp("2026-01-02T03:04:05Z")',
        nested: '{"a": [1, 2.5, true, null], "h": request.headers.raw()["x-team"]}',
        failed: 'jwt.sub',
        __proto__x: '1',
      },
    },
    response: {
      metadata: { status: 'response.code', team: 'metadata.team + "!"' },
      set: fields({ 'x-metadata': 'toJson(metadata)', 'x-failed': 'has(metadata.failed)' }),
    },
  })
  const watched = gateway.trace()
  const { headers } = await request(port, { headers: { 'x-team': 'red' } })
  assert.deepEqual(JSON.parse(headers['x-metadata']!), {
    team: 'red!',
    bytes: 'YWJj',
    when: '2026-01-02T03:04:05Z',
    nested: { a: [1, 2.5, true, null], h: ['red'] },
    __proto__x: 1,
    status: 200,
  })
  assert.equal(headers['x-failed'], 'false')
  const snapshot = (await watched).find(({ message }) => message['stage'] === 'route policies')
  const state = snapshot?.message['requestState'] as { metadata: { team: string } }
  assert.equal(state.metadata.team, 'red')
})

test('a policy that does nothing to a message leaves it alone', async (t) => {
  const { port, origin } = await setUp(t, { response: { set: fields({ 'x-a': '"1"' }) } })
  const { headers } = await request(port, { method: 'POST', body: 'hello', headers: { 'X-Odd': 'Case' } })
  assert.equal(headers['x-a'], '1')
  assert.equal(origin.seen[0]!.body, 'hello')
  assert.ok(origin.seen[0]!.rawHeaders.includes('X-Odd'))
})
