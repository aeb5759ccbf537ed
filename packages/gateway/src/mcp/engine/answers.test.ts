import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { FakeTime } from '../../testing/fake-time.ts'
import { HastyDeadlines } from '../../testing/http/hasty-deadlines.ts'
import { eventReader } from '../../testing/mcp/mcp-caller.ts'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { type TargetRequest, useTarget } from '../../testing/mcp/mcp-target.ts'
import { until } from '../../testing/scene.ts'
import { KEEP_ALIVE_MS } from '../client/event-body.ts'

/** A target that does this with calls of tools. */
const onCall = (serve: (request: TargetRequest) => void) => (request: TargetRequest) => {
  if (request.method !== 'tools/call') return false
  serve(request)
  return true
}

const progress = (step: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 1, progress: step },
})

const ODD =
  '{ "jsonrpc":"2.0",\n"id" : 1, "result":{"n":12345678901234567890.10, "unknown":{"x":1.0}, "t":"\\u00e9"}}  '

describe('an answer of one target', () => {
  it('in JSON stays JSON, byte by byte', async (t) => {
    const target = await useTarget(
      t,
      onCall((request) => request.json(ODD)),
    )
    const { caller } = await useMcpScene(t, { one: target })
    const answer = await (await caller.begin()).ask('tools/call', { name: 'a' })
    assert.match(answer.headers.get('content-type')!, /^application\/json/)
    assert.equal(answer.text, ODD)
  })

  it('in events stays events, with all that is said before, and every number', async (t) => {
    const target = await useTarget(
      t,
      onCall((request) => {
        const events = request.events()
        events.send(progress(1))
        events.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })
        events.send(ODD.replaceAll('\n', ''))
        events.end()
      }),
    )
    const { caller } = await useMcpScene(t, { one: target })
    const answer = await (await caller.begin()).ask('tools/call', { name: 'a' })
    assert.match(answer.headers.get('content-type')!, /^text\/event-stream/)
    assert.deepEqual(
      answer.messages.map(({ method, id }) => method ?? id),
      ['notifications/progress', 'notifications/message', 1],
    )
    assert.ok(answer.text.includes(ODD.replaceAll('\n', '')))
  })

  it('comes event by event, not at the end', async (t) => {
    const target = await useTarget(
      t,
      onCall((request) => {
        const events = request.events()
        events.send(progress(1))
        held = () => {
          events.send({ jsonrpc: '2.0', id: request.id, result: {} })
          events.end()
        }
      }),
    )
    let held = (): void => {}
    const { caller } = await useMcpScene(t, { one: target })
    const response = await (
      await caller.begin()
    ).open({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name: 'a' } })
    const next = eventReader(response)
    assert.match((await next())!.data, /progress/)
    held()
    assert.match((await next())!.data, /"id":9/)
    assert.equal(await next(), null)
  })

  it('may be 5 MB long', async (t) => {
    const text = 'x'.repeat(5_000_000)
    const target = await useTarget(
      t,
      onCall((request) => request.result({ content: [{ type: 'text', text }] })),
    )
    const { caller, gateway } = await useMcpScene(t, { one: target })
    const answer = await (await caller.begin()).ask('tools/call', { name: 'a' })
    assert.ok(answer.text.includes(text))
    await gateway.finished(3)
    assert.equal(gateway.records.at(-1)?.mcp?.outcome, 'ok')
  })

  for (const [how, serve] of [
    ['JSON', (request: TargetRequest, text: string) => request.result({ content: [{ type: 'text', text }] })],
    [
      'an event',
      (request: TargetRequest, text: string) => {
        const events = request.events()
        events.send({ jsonrpc: '2.0', id: request.id, result: { content: [{ type: 'text', text }] } })
        events.end()
      },
    ],
  ] as const) {
    it(`that is ${how} and too large is an error of the call, and the limit is the config's`, async (t) => {
      const text = 'x'.repeat(200_000)
      const targets = {
        one: await useTarget(
          t,
          onCall((request) => serve(request, text)),
        ),
        two: await useTarget(t),
      }
      const narrow = await useMcpScene(t, targets, { backend: { maxMessageSize: '100k' } })
      const refused = await (await narrow.caller.begin()).ask('tools/call', { name: 'one_a' })
      assert.equal(refused.status, 200)
      assert.match(refused.messages[0]!.error!.message, /^target one: .* larger than 100000 bytes/)
      const wide = await useMcpScene(t, targets, { backend: { maxMessageSize: '300k' } })
      assert.ok((await (await wide.caller.begin()).ask('tools/call', { name: 'one_a' })).text.includes(text))
    })
  }

  it('to something else is passed over', async (t) => {
    const target = await useTarget(
      t,
      onCall((request) => {
        const events = request.events()
        events.send({ jsonrpc: '2.0', id: 'other', result: { wrong: true } })
        events.send({ jsonrpc: '2.0', id: request.id, result: { right: true } })
        events.end()
      }),
    )
    const { caller } = await useMcpScene(t, { one: target })
    const answer = await (await caller.begin()).ask('tools/call', { name: 'a' })
    assert.deepEqual(
      answer.messages.map(({ result }) => result),
      [{ right: true }],
    )
  })

  for (const [what, serve, pattern] of [
    ['is no MCP', (request: TargetRequest) => request.json('[]'), /invalid message|batches/],
    [
      'is a page',
      (request: TargetRequest) => request.response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      /text\/html/,
    ],
    [
      'leads elsewhere',
      (request: TargetRequest) => request.response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
      /HTTP 307/,
    ],
    ['never comes', (request: TargetRequest) => request.events().end(), /without an answer/],
  ] as const) {
    it(`that ${what} is an honest error of the gateway`, async (t) => {
      const target = await useTarget(t, onCall(serve))
      const { caller } = await useMcpScene(t, { one: target, two: await useTarget(t) })
      const answer = await (await caller.begin()).ask('tools/call', { name: 'one_a' })
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.headers.get('location'), null)
      assert.equal(answer.messages[0]?.error?.code, -32603)
      assert.match(answer.messages[0].error.message, pattern)
      assert.equal(target.asked('tools/call').length, 1)
    })
  }

  it('that refuses the caller goes on with what it says about that', async (t) => {
    const target = await useTarget(
      t,
      onCall(({ response }) => {
        response.writeHead(401, {
          'www-authenticate': 'Bearer realm="x"',
          'set-cookie': 'a=b',
          'content-type': 'text/plain',
        })
        response.end('who are you?')
      }),
    )
    const { caller, gateway } = await useMcpScene(t, { one: target })
    const answer = await (await caller.begin()).ask('tools/call', { name: 'a' })
    assert.deepEqual([answer.status, answer.text], [401, 'who are you?'])
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="x"')
    assert.equal(answer.headers.get('set-cookie'), null)
    await gateway.finished(3)
    assert.equal(gateway.records.at(-1)?.reason, 'Upstream')
  })
})

describe('a client that waits', () => {
  it('is told so after a while; then the JSON of the target comes as an event', async (t) => {
    const held = Promise.withResolvers<TargetRequest>()
    const target = await useTarget(
      t,
      onCall((request) => held.resolve(request)),
    )
    const deadlines = new HastyDeadlines({ [KEEP_ALIVE_MS]: 20 })
    const { caller, gateway } = await useMcpScene(t, { one: target }, { gateway: { deadlines } })
    const session = await caller.begin()
    const response = await session.open({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'a' } })
    assert.match(response.headers.get('content-type')!, /event-stream/)
    ;(await held.promise).result({ late: true })
    const text = await response.text()
    assert.match(text, /^: keep-alive\n\n/)
    assert.ok(text.includes('data: {"jsonrpc":"2.0","id":3,"result":{"late":true}}\n\n'))
    assert.deepEqual(gateway.bugs, [])
  })

  it('for the beginning of a session is not told: its id has to come first', async (t) => {
    const time = new FakeTime()
    const target = await useTarget(t, (request) => {
      if (request.method !== 'initialize') return false
      void time.advance(KEEP_ALIVE_MS).then(() => {
        request.response.setHeader('mcp-session-id', 'late')
        request.result({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} })
      })
      return true
    })
    const { caller } = await useMcpScene(t, { one: target }, { gateway: { deadlines: time.deadlines } })
    assert.notEqual((await caller.begin()).session, '')
  })

  it('for nothing is not told either', async (t) => {
    const time = new FakeTime()
    const target = await useTarget(t, ({ method, response }) => {
      if (method !== 'notifications/x') return false
      void time.advance(KEEP_ALIVE_MS).then(() => response.writeHead(202).end())
      return true
    })
    const { caller, gateway } = await useMcpScene(t, { one: target }, { gateway: { deadlines: time.deadlines } })
    const session = await caller.begin()
    assert.equal((await session.send({ jsonrpc: '2.0', method: 'notifications/x' })).status, 202)
    assert.equal((await session.end()).status, 200)
    // A comment that nobody should write would come by then.
    await time.advance(KEEP_ALIVE_MS)
    assert.deepEqual(gateway.bugs, [])
  })

  it('and leaves takes the call at the target with it', async (t) => {
    const gone = Promise.withResolvers<void>()
    const target = await useTarget(
      t,
      onCall(({ response }) => void response.on('close', () => gone.resolve())),
    )
    const { caller, gateway } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    const leaving = new AbortController()
    const asked = session.open(
      { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'a' } },
      {},
      leaving.signal,
    )
    asked.catch(() => {})
    await until(() => target.asked('tools/call').length === 1)
    leaving.abort()
    await gone.promise
    await gateway.finished(3)
    assert.equal(gateway.records.at(-1)?.mcp?.outcome, 'cancelled')
  })

  it('and does not read makes the target wait', async (t) => {
    const block = JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { data: 'x'.repeat(64 * 1024) },
    })
    const total = 2_000
    let sent = 0
    const target = await useTarget(
      t,
      onCall((request) => {
        const events = request.events()
        const { response } = request
        void (async () => {
          for (; sent < total; sent += 1) {
            events.send(block)
            if (response.writableNeedDrain) await once(response, 'drain')
          }
          events.send({ jsonrpc: '2.0', id: request.id, result: {} })
          events.end()
        })()
      }),
    )
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    const response = await session.open({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'a' } })
    const next = eventReader(response)
    await next()
    // Buffers of the system take some; what is written stops growing all the same.
    let before = -1
    while (before !== sent) {
      before = sent
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    assert.ok(sent < total / 2, `${sent} of ${total} blocks were taken`)
    let count = 1
    for (let event = await next(); event !== null; event = await next()) count += 1
    assert.equal(count, total + 1)
  })
})

describe('a target that fails', () => {
  for (const targets of [['one'], ['one', 'two']]) {
    it(`and says when to come again is passed on with that: ${targets.length} targets`, async (t) => {
      const busy = onCall((request) => void request.response.writeHead(429, { 'retry-after': '30' }).end())
      const named = Object.fromEntries(
        await Promise.all(targets.map(async (name) => [name, await useTarget(t, busy)] as const)),
      )
      const { caller } = await useMcpScene(t, named)
      const name = targets.length > 1 ? 'one_a' : 'a'
      const answer = await (await caller.begin()).ask('tools/call', { name })
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [200, '30'])
      assert.match(answer.messages[0]!.error!.message, /target one: it answered HTTP 429; retry after 30 s/)
    })
  }

  it('to name the type of its answer is understood all the same', async (t) => {
    const target = await useTarget(
      t,
      onCall(({ id, params, response }) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })
        response.writeHead(200).end(params['name'] === 'empty' ? '' : params['name'] === 'html' ? '<p>' : body)
      }),
    )
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    const ask = async (name: string) => (await session.ask('tools/call', { name })).messages[0]
    assert.deepEqual((await ask('a'))?.result, { content: [] })
    assert.match((await ask('empty'))!.error!.message, /HTTP 200 without a body/)
    assert.match((await ask('html'))!.error!.message, /it sent an invalid message/)
  })

  const failing = [
    ['breaks off', (request: TargetRequest) => void request.response.destroy()],
    ['answers 500', (request: TargetRequest) => void request.response.writeHead(500).end('<p>')],
    ['answers 429', (request: TargetRequest) => void request.response.writeHead(429, { 'retry-after': '1' }).end()],
    ['says why in JSON-RPC', (request: TargetRequest) => request.error(-32050, 'busy', 503)],
    ['has lost the session, again and again', (request: TargetRequest) => request.error(-32001, 'gone', 404)],
  ] as const
  for (const [what, serve] of failing) {
    it(`and ${what} is an error of that call alone, not of HTTP`, async (t) => {
      const target = await useTarget(t, onCall(serve))
      const well = await useTarget(
        t,
        onCall((request) => request.result({ content: [] })),
      )
      const { caller, gateway } = await useMcpScene(t, { one: target, two: well })
      const session = await caller.begin()
      const answer = await session.ask('tools/call', { name: 'one_a' })
      assert.deepEqual([answer.status, answer.messages[0]?.error === undefined], [200, false], answer.text)
      const other = await session.ask('tools/call', { name: 'two_a' })
      assert.deepEqual(other.messages[0]?.result, { content: [] })
      await gateway.finished(4)
      const { mcp } = gateway.records[2]!
      assert.ok(mcp?.outcome === 'unavailable' || mcp?.outcome === 'error', mcp?.outcome ?? 'none')
    })
  }

  for (const [what, serve] of failing) {
    it(`and ${what} is no error of HTTP in the revision without sessions either`, async (t) => {
      const [one, two] = [await useTarget(t, onCall(serve)), await useTarget(t)]
      for (const [name, targets] of [
        ['a', { one }],
        ['one_a', { one, two }],
      ] as const) {
        const { caller } = await useMcpScene(t, targets)
        const answer = await caller.askModern('tools/call', { name })
        // Such a request may be wrong itself: there are no sessions to be lost.
        assert.equal(answer.status, what.startsWith('has lost') ? 404 : 200, answer.text)
        assert.ok(answer.messages[0]?.error !== undefined, answer.text)
      }
    })
  }

  it('keeps the status that tells what is wrong with a request without sessions', async (t) => {
    const target = await useTarget(
      t,
      onCall((request) => request.error(-32021, 'Missing required client capability', 400)),
    )
    const { caller } = await useMcpScene(t, { one: target })
    const answer = await caller.askModern('tools/call', { name: 'a' })
    assert.deepEqual([answer.status, answer.messages[0]?.error?.code], [400, -32021])
  })

  it('and refuses the caller in JSON-RPC says also how to sign in', async (t) => {
    const target = await useTarget(
      t,
      onCall((request) => {
        request.response.setHeader('www-authenticate', 'Bearer realm="x"')
        request.error(-32001, 'who are you?', 401)
      }),
    )
    const { caller } = await useMcpScene(t, { one: target })
    const answer = await (await caller.begin()).ask('tools/call', { name: 'a' })
    assert.equal(answer.status, 401)
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="x"')
    assert.equal(answer.messages[0]?.error?.message, 'who are you?')
  })
})
