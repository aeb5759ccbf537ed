import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { eventsOf } from '../testing/events.ts'
import { closedPort, useServer } from '../testing/fake-gateway.ts'
import { parseAdminAddress } from './admin-address.ts'
import { arm, type ArmOptions } from './client.ts'
import type { TraceEvent } from './event.ts'

const stream = { 'content-type': 'text/event-stream' }
const last = 'data: {"message":{"type":"requestFinished"}}\n\n'

function ask(address: string | number, options: Partial<ArmOptions> = {}) {
  const events: TraceEvent[] = []
  const controller = new AbortController()
  const admin = parseAdminAddress(typeof address === 'number' ? `127.0.0.1:${address}` : address)!
  const onEvent = (event: TraceEvent) => events.push(event)
  const armed = arm({ admin, token: null, expression: null, onEvent, signal: controller.signal, ...options })
  return { armed, events, controller }
}

async function problemOf(address: string | number, options?: Partial<ArmOptions>): Promise<string> {
  const armed = await ask(address, options).armed
  assert.ok(!armed.ok)
  assert.doesNotMatch(armed.problem, /[\r\n]/)
  return armed.problem
}

async function answering(t: TestContext, listener: RequestListener): Promise<number> {
  return useServer(t, listener)
}

describe('the trace stream', () => {
  test('is requested by POST, with expression and token', async (t) => {
    const seen: (string | undefined)[] = []
    const port = await answering(t, ({ method, url, headers }, response) => {
      seen.push(method, url, headers.host, headers.authorization, headers['content-length'])
      response.writeHead(200, stream).end(`: ready\n\n${last}`)
    })
    const { armed, events } = ask(port, { expression: 'a == "ü" && b', token: 'secret' })
    const opened = await armed
    assert.ok(opened.ok)
    assert.deepEqual(await opened.ended, { kind: 'finished' })
    assert.equal(events.length, 1)
    const path = '/debug/trace?expression=a%20%3D%3D%20%22%C3%BC%22%20%26%26%20b'
    assert.deepEqual(seen, ['POST', path, `127.0.0.1:${port}`, 'Bearer secret', '0'])
  })

  test('yields every event in order for any chunking, and ends with the last', async (t) => {
    const events = eventsOf({ method: 'GET', host: 'grüße.example', path: '/', headers: {} })
    const bytes = Buffer.from(
      `: ready\n\n${events.map((event) => `: keepalive\n\ndata: ${JSON.stringify(event)}\n\n`).join('')}`,
    )
    const port = await answering(t, (_request, response) => {
      response.writeHead(200, stream)
      response.socket?.setNoDelay(true)
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7))
      // The response stays open, because the last event marks the end.
    })
    const { armed, events: received } = ask(port)
    const opened = await armed
    assert.ok(opened.ok)
    assert.deepEqual(await opened.ended, { kind: 'finished' })
    assert.deepEqual(
      received.map(({ value }) => value),
      events,
    )
    assert.deepEqual(
      received.map(({ json }) => json),
      events.map((event) => JSON.stringify(event)),
    )
  })

  test('is ready only after the comment that says so', async (t) => {
    const told: ServerResponse[] = []
    const port = await answering(t, (_request, response) => {
      told.push(response)
      response.writeHead(200, stream).write(': starting\n\n')
    })
    const [one, two] = [ask(port), ask(port)]
    while (told.length < 2) await new Promise((resolve) => setImmediate(resolve))
    const [first, second] = told as [ServerResponse, ServerResponse]
    const armed: string[] = []
    const all = [one.armed.then(() => armed.push('one')), two.armed.then(() => armed.push('two'))]
    // Both have received the same comment so far, and neither is armed.
    second.write(': ready\n\n')
    await Promise.any(all)
    assert.equal(armed.length, 1)
    first.write(': ready\n\n')
    await Promise.all(all)
    for (const { armed: outcome, controller } of [one, two]) {
      assert.ok((await outcome).ok)
      controller.abort()
    }
  })

  test('ignores everything after the last event', async (t) => {
    const port = await answering(t, (_request, response) => {
      response.writeHead(200, stream).end(`: ready\n\n${last}${last}data: no event\n\n`)
    })
    const { armed, events } = ask(port)
    const opened = await armed
    assert.ok(opened.ok)
    assert.deepEqual(await opened.ended, { kind: 'finished' })
    assert.equal(events.length, 1)
  })

  test('that ends or is cut before the last event is broken', async (t) => {
    for (const cut of [false, true]) {
      const port = await answering(t, (_request, response) => {
        response
          .writeHead(200, stream)
          .write(': ready\n\ndata: {"message":{"type":"requestStarted"}}\n\n', () =>
            cut ? response.socket?.resetAndDestroy() : response.end(),
          )
      })
      const { armed } = ask(port)
      const opened = await armed
      assert.ok(opened.ok)
      const end = await opened.ended
      assert.equal(end.kind, 'broken')
      assert.match(end.kind === 'broken' ? end.problem : '', /ended the trace before the request was finished/)
    }
  })

  test('with content other than events is broken, and the content is escaped', async (t) => {
    const port = await answering(t, (_request, response) => {
      response.writeHead(200, stream).end(': ready\n\ndata: {"a":"\u009b2J"}\n\n')
    })
    const { armed, events } = ask(port)
    const opened = await armed
    assert.ok(opened.ok)
    const end = await opened.ended
    assert.deepEqual(end, {
      kind: 'broken',
      problem: `127.0.0.1:${port} sent an invalid trace event: {"a":"\\u009b2J"}`,
    })
    assert.equal(events.length, 0)
  })

  test('with an event over the limit is broken', async (t) => {
    const port = await answering(t, (_request, response) => {
      response.writeHead(200, stream).write(': ready\n\ndata: ')
      const more = Buffer.alloc(1024 * 1024, 'x')
      for (let count = 0; count < 20; count++) response.write(more)
    })
    const { armed } = ask(port)
    const opened = await armed
    assert.ok(opened.ok)
    const end = await opened.ended
    assert.match(end.kind === 'broken' ? end.problem : '', /too large/)
  })

  test('stops when it is closed or aborted', async (t) => {
    const closed: Promise<unknown>[] = []
    const port = await answering(t, (_request, response) => {
      closed.push(once(response, 'close'))
      response.writeHead(200, stream).write(': ready\n\n')
    })
    for (const how of ['close', 'abort']) {
      const { armed, controller } = ask(port)
      const opened = await armed
      assert.ok(opened.ok)
      if (how === 'close') opened.close()
      else controller.abort()
      assert.deepEqual(await opened.ended, { kind: 'stopped' })
    }
    assert.equal((await Promise.all(closed)).length, 2)
  })

  test('is read from a unix socket too', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'porticoctl-'))
    const path = join(folder, 'admin')
    const server = createServer((_request, response) => response.writeHead(200, stream).end(`: ready\n\n${last}`))
    server.listen(path)
    await once(server, 'listening')
    t.after(() => {
      server.close()
      rmSync(folder, { recursive: true, force: true })
    })
    const opened = await ask(`unix:${path}`).armed
    assert.ok(opened.ok)
    assert.deepEqual(await opened.ended, { kind: 'finished' })
    assert.match(await problemOf(`unix:${path}-not`), /^nothing listens on the admin address unix:/)
  })
})

describe('an admin address that cannot be used', () => {
  test('without a listener', async () => {
    const port = await closedPort()
    assert.equal(
      await problemOf(port),
      `nothing listens on the admin address 127.0.0.1:${port}: start the gateway, or give its address with --admin`,
    )
  })

  test('for another server is reported with its response', async (t) => {
    const cases: [number, string, RegExp][] = [
      [
        400,
        'invalid expression: 1:3: unexpected "=\u001b"\nmore\n',
        /rejected the trace: invalid expression: 1:3: unexpected "=\\u001b"$/,
      ],
      [401, 'token required\n', /requires a token: set it with --admin-token or PORTICO_ADMIN_TOKEN$/],
      [
        403,
        'the token grafana has the scope Read, and POST /api/send needs a token with the scope Write\n',
        /:\d+: the token grafana has the scope Read, and POST \/api\/send needs a token with the scope Write$/,
      ],
      [403, 'host not allowed\n', /refused the request \(host not allowed\)/],
      [404, 'not found\n', /has no \/debug\/trace: it is not the admin address of Portico/],
      [405, '', /has no \/debug\/trace/],
      [200, '<html>', /did not return a trace/],
      [503, 'too many traces wait for requests\n', /cannot trace now: too many traces wait for requests$/],
      [500, 'oh\n', /answered 500 \(oh\) instead of a trace/],
    ]
    let answer = cases[0]!
    const port = await answering(t, (_request, response) => response.writeHead(answer[0]).end(answer[1]))
    for (answer of cases) assert.match(await problemOf(port), answer[2])
    answer = cases[1]!
    assert.match(await problemOf(port, { token: 'wrong' }), /rejected the token/)
  })

  test('for a server that is silent, closes, or speaks no HTTP', async (t) => {
    const speak = async (say: string | null) => {
      const server = createTcpServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => (say === null ? undefined : socket.end(say)))
        t.after(() => socket.destroy())
      }).listen(0, '127.0.0.1')
      t.after(() => server.close())
      await once(server, 'listening')
      return (server.address() as AddressInfo).port
    }
    assert.match(
      await problemOf(await speak(null), { readyWithinMs: 200 }),
      /accepts the connection but does not respond/,
    )
    assert.match(await problemOf(await speak('')), /does not answer as an admin server/)
    assert.match(await problemOf(await speak('SSH-2.0-x\r\n')), /does not answer as an admin server/)
  })

  test('for a server that ends before it is ready', async (t) => {
    const port = await answering(t, (_request, response) => response.writeHead(200, stream).end(': hello\n\n'))
    assert.match(await problemOf(port), /ended the trace before/)
  })
})
