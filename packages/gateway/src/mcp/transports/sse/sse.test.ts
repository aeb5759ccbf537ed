import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '@portico/http/json'
import { addWorker } from '../../../testing/hub.ts'
import { eventually } from '../../../testing/process.ts'
import { closedPort } from '../../../testing/scene.ts'
import { notification, request, useHub } from '../../hub/processes/test-process.ts'
import { readEndpoint } from './post.ts'
import { useSdkServer } from './test-server.ts'
import { askLink, caller, recordAnswer, tellLink, useServer, useTransport } from './test-target.ts'

describe('a server of the SDK', () => {
  test('is begun with, asked and told, by several workers, in one session', async (t) => {
    const server = await useSdkServer(t)
    const { workers } = useHub(t, 2)
    const links = workers.map((hub) => useTransport(t, hub, server.port).link({ key: 's', target: '' }))
    const begun = await askLink(links[0]!, initialize())
    assert.equal(serverOf(begun.messages.at(-1)!.value).name, 'old')
    for (const link of links) assert.equal(await tellLink(link, notification('notifications/initialized')), null)
    for (const [at, link] of links.entries()) {
      const params = { name: 'echo', arguments: { text: `${at}` }, _meta: { progressToken: `t${at}` } }
      const { messages, failure } = await askLink(link, request('tools/call', params, `call ${at}`))
      assert.equal(failure, null)
      assert.deepEqual(
        messages.map(({ method, id }) => method || id),
        ['notifications/progress', `call ${at}`],
      )
      assert.match(messages[1]!.bytes.toString(), new RegExp(`"text":"${at}"`))
    }
    assert.equal(server.opened(), 1)
  })

  test('that was restarted has lost the session, and is begun with anew', async (t) => {
    const server = await useSdkServer(t)
    const { workers } = useHub(t, 2)
    const links = workers.map((hub) => useTransport(t, hub, server.port).link({ key: 's', target: '' }))
    await askLink(links[0]!, initialize())
    const waiting = askLink(links[1]!, request('tools/call', { name: 'wait', arguments: {} }))
    await eventually('asked', () => server.waiting() === 1)
    server.forget()
    assert.equal((await waiting).failure?.code, 'broken')
    for (const link of links) assert.equal((await askLink(link, request('ping'))).failure?.code, 'session_lost')
    assert.equal((await tellLink(links[1]!, notification('notifications/x')))?.code, 'session_lost')
    assert.equal((await askLink(links[1]!, initialize())).failure, null)
    for (const link of links) assert.equal((await askLink(link, request('ping'))).failure, null)
    assert.equal(server.opened(), 2)
  })

  test('says things on its own account to whoever listens, wherever they are', async (t) => {
    const server = await useSdkServer(t)
    const { workers } = useHub(t, 2)
    const links = workers.map((hub) => useTransport(t, hub, server.port).link({ key: 's', target: '' }))
    await askLink(links[0]!, initialize())
    const heard = recordAnswer()
    links[1]!.listen('', caller(), heard.sink)
    await askLink(links[1]!, request('ping'))
    await server.last().server.sendToolListChanged()
    await eventually('heard', () => heard.messages.length === 1)
    assert.equal(heard.messages[0]!.method, 'notifications/tools/list_changed')
    links[1]!.end(caller())
    assert.equal((await heard.answered).failure, null)
    await eventually('left', () => server.open() === 0)
  })

  test('keeps no stream that nobody uses', async (t) => {
    const server = await useSdkServer(t)
    const transport = useTransport(t, useHub(t).workers[0]!, server.port, 200)
    const link = transport.link({ key: 's', target: '' })
    await askLink(link, initialize())
    assert.equal(server.open(), 1)
    await eventually('left', () => server.open() === 0)
    assert.equal((await askLink(link, request('ping'))).failure?.code, 'session_lost')
  })

  test('is begun with once when two workers do so one after the other', async (t) => {
    const server = await useSdkServer(t)
    const { workers } = useHub(t, 2)
    const links = workers.map((hub) => useTransport(t, hub, server.port).link({ key: 's', target: '' }))
    for (const link of links) assert.equal((await askLink(link, initialize())).failure, null)
    assert.equal(server.opened(), 1)
  })
})

describe('a worker with a stream that dies', () => {
  test('takes the session with it, and those who wait elsewhere are told', async (t) => {
    const server = await useSdkServer(t)
    const { main, workers } = useHub(t)
    const mortal = addWorker(main, 9)
    await askLink(useTransport(t, mortal, server.port).link({ key: 's', target: '' }), initialize())
    const link = useTransport(t, workers[0]!, server.port).link({ key: 's', target: '' })
    const waiting = askLink(link, request('tools/call', { name: 'wait', arguments: {} }))
    await eventually('asked', () => server.waiting() === 1)
    main.died(9)
    const { failure } = await waiting
    assert.deepEqual([failure?.code, failure?.message], ['broken', 'the worker with its stream died'])
    assert.equal((await askLink(link, request('ping'))).failure?.code, 'session_lost')
  })
})

describe('an odd server', () => {
  test('gets requests with the headers of their callers', async (t) => {
    const seen: string[] = []
    const { port } = await useOddServer(t, {
      seen: (message) =>
        seen.push(`${message.method} ${message.url} ${String(message.headers['x-from'])} ${message.headers.accept}`),
    })
    const { workers } = useHub(t, 2)
    const links = workers.map((hub) => useTransport(t, hub, port).link({ key: 's', target: '' }))
    await askLink(links[0]!, initialize(), caller('a'))
    await askLink(links[1]!, request('x'), caller('b'))
    assert.deepEqual(seen, [
      'GET /sse a text/event-stream',
      'POST /post?s=1 a application/json, text/event-stream',
      'POST /post?s=1 b application/json, text/event-stream',
    ])
  })

  for (const endpoint of [
    'http://127.0.0.1:1/post',
    'https://example.com/post',
    '//example.com/x',
    'ftp://127.0.0.1/',
  ]) {
    test(`that sends the gateway to ${endpoint} is not believed`, async (t) => {
      const { port } = await useOddServer(t, { endpoint })
      const link = useTransport(t, useHub(t).workers[0]!, port).link({ key: 's', target: '' })
      const { failure } = await askLink(link, initialize())
      assert.deepEqual([failure?.code, failure?.message], ['bad_answer', 'it sent an endpoint that is not its own'])
    })
  }

  test('that refuses says so with its own words', async (t) => {
    const port = await useServer(t, (_message, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('no')
    })
    const link = useTransport(t, useHub(t).workers[0]!, port).link({ key: 's', target: '' })
    const { failure } = await askLink(link, initialize())
    assert.deepEqual([failure?.code, failure?.status, failure?.body?.toString()], ['refused', 401, 'no'])
    assert.equal(failure?.headers?.get('www-authenticate'), 'Bearer')
  })

  test('is not followed elsewhere', async (t) => {
    const port = await useServer(t, (_message, response) => response.writeHead(302, { location: '/other' }).end())
    const link = useTransport(t, useHub(t).workers[0]!, port).link({ key: 's', target: '' })
    const { failure } = await askLink(link, initialize())
    assert.deepEqual([failure?.code, failure?.message], ['bad_answer', 'it answered HTTP 302'])
  })

  test('that answers something else, or nothing, is said to', async (t) => {
    const html = await useServer(t, (_message, response) => response.setHeader('content-type', 'text/html').end('<p>'))
    const link = useTransport(t, useHub(t).workers[0]!, html).link({ key: 's', target: '' })
    assert.equal((await askLink(link, initialize())).failure?.code, 'bad_answer')
    const nobody = useTransport(t, useHub(t).workers[0]!, await closedPort()).link({ key: 's', target: '' })
    assert.equal((await askLink(nobody, initialize())).failure?.code, 'unavailable')
  })

  test('that does not know the session any more has lost it', async (t) => {
    const server = await useOddServer(t)
    const link = useTransport(t, useHub(t).workers[0]!, server.port).link({ key: 's', target: '' })
    await askLink(link, initialize())
    server.refuseWith(404)
    assert.equal((await askLink(link, request('x'))).failure?.code, 'session_lost')
    server.refuseWith(0)
    assert.equal((await askLink(link, request('x'))).failure?.code, 'session_lost')
    assert.equal((await askLink(link, initialize())).failure, null)
  })

  test('that does not take a message says why', async (t) => {
    const server = await useOddServer(t)
    const link = useTransport(t, useHub(t).workers[0]!, server.port).link({ key: 's', target: '' })
    await askLink(link, initialize())
    server.refuseWith(503)
    const { failure } = await askLink(link, request('x'))
    assert.deepEqual([failure?.code, failure?.status], ['refused', 503])
    assert.equal((await tellLink(link, notification('x')))?.status, 503)
    server.refuseWith(0)
    assert.equal((await askLink(link, request('x'))).failure, null)
  })

  test('is read no faster than the client takes it, also by way of another worker', async (t) => {
    const server = await useOddServer(t)
    const { workers } = useHub(t, 2)
    const links = workers.map((hub) => useTransport(t, hub, server.port).link({ key: 's', target: '' }))
    await askLink(links[0]!, initialize())
    for (const link of links) {
      let heard = 0
      const over = Promise.withResolvers<void>()
      const call = link.request(request('flood', { mebibytes: 24, _meta: { progressToken: 'f' } }), caller(), {
        message() {
          heard++
          return false
        },
        closed: over.resolve,
        failed: ({ message }) => over.reject(new Error(message)),
      })
      await eventually('stuck', () => server.isStuck())
      assert.equal(heard, 1)
      const pump = setInterval(() => call.resume(), 0)
      await over.promise
      clearInterval(pump)
      assert.equal(heard, 24 * 16 + 1)
    }
  })
})

describe('an endpoint', () => {
  const at = { authority: 'host.test:8080', path: '/a/sse?x=1' }

  test('is a path on the target', () => {
    assert.equal(readEndpoint('/messages?sessionId=1', at), '/messages?sessionId=1')
    assert.equal(readEndpoint('messages', at), '/a/messages')
    assert.equal(readEndpoint('http://host.test:8080/m', at), '/m')
    assert.equal(readEndpoint('https://host.test/m', { ...at, authority: 'host.test:443' }), '/m')
    assert.equal(readEndpoint('', at), null)
    assert.equal(readEndpoint('http://user@host.test:8080/m', at), null)
    assert.equal(readEndpoint('javascript:alert(1)', at), null)
  })

  test('is on the host of the target for any text, or is rejected', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.tuple(fc.constantFrom('http:', 'https:', '', 'x:'), fc.string()).map(([a, b]) => `${a}//${b}`),
          fc.string(),
          fc.string().map((text) => `//${text}`),
        ),
        (text) => {
          const endpoint = readEndpoint(text, at)
          if (endpoint !== null) assert.match(endpoint, /^\/[\x21-\x7e]*$/)
        },
      ),
    )
  })
})

function initialize() {
  const clientInfo = { name: 'test', version: '1' }
  return request('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo })
}

function serverOf(value: JsonObject): JsonObject {
  return (value.result as JsonObject).serverInfo as JsonObject
}

/** Answers every request with `{}`, and does what tests need it to. */
async function useOddServer(
  t: TestContext,
  { endpoint = '/post?s=1', seen = () => {} }: { endpoint?: string; seen?: (message: IncomingMessage) => void } = {},
) {
  let stream: ServerResponse | null = null
  let status = 0
  let isStuck = false
  const send = (message: JsonObject): boolean =>
    stream!.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)

  async function flood(mebibytes: number): Promise<void> {
    const text = 'x'.repeat(64 * 1024)
    for (let at = 0; at < mebibytes * 16; at++) {
      if (send({ method: 'notifications/progress', params: { progressToken: 'f', progress: at, text } })) continue
      const timer = setTimeout(() => (isStuck = true), 300)
      await new Promise((resolve) => stream!.once('drain', resolve))
      clearTimeout(timer)
      isStuck = false
    }
  }

  const port = await useServer(t, (message, response) => {
    seen(message)
    if (message.method === 'GET') {
      stream = response
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
      response.write(`event: endpoint\ndata: ${endpoint}\n\n`)
      return
    }
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      response.writeHead(status === 0 ? 202 : status).end('Accepted')
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
        id: number
        method: string
        params: { mebibytes: number }
      }
      if (status !== 0) return
      const flooded = method === 'flood' ? flood(params.mebibytes) : Promise.resolve()
      void flooded.then(() => send({ id, result: {} }))
    })
  })
  return { port, refuseWith: (code: number) => (status = code), isStuck: () => isStuck }
}
