import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import type { Expression } from '../expression/expression.ts'
import { Reply } from '../context/reply.ts'
import type { AnsweredRequest } from '../context/request-context.ts'
import type { Env, Step } from '../context/step.ts'
import type { TraceEvent } from '../../telemetry/trace/trace-event.ts'
import { request } from '../../testing/client.ts'
import { RawClient } from '../../testing/http/http1-server.ts'
import { httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../testing/scene.ts'
import { conditional } from './conditional.ts'

function set(name: string, value: string): { set: object[] } {
  return { set: [{ name, value }] }
}

async function setUp(t: TestContext, policies: object) {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  return { origin, gateway, port: gateway.port() }
}

const byPlan = (form: (plan: string) => object) => ({
  conditional: [
    { condition: 'request.headers["x-plan"] == "gold"', policy: form('gold') },
    { condition: 'request.headers["x-plan"] in ["gold", "silver"]', policy: form('silver') },
    { policy: form('rest') },
  ],
})

test('transformation: the first form whose condition is true is taken, for the response too', async (t) => {
  const transformation = byPlan((plan) => ({
    request: set('x-form', `"${plan}"`),
    response: set('x-form', `"${plan}"`),
  }))
  const { port, origin } = await setUp(t, { transformation })
  for (const [plan, form] of [
    ['gold', 'gold'],
    ['silver', 'silver'],
    ['iron', 'rest'],
  ]) {
    const { headers } = await request(port, { headers: { 'x-plan': plan! } })
    assert.equal(headers['x-form'], form)
  }
  // A condition that fails is not true.
  assert.equal((await request(port)).headers['x-form'], 'rest')
  assert.deepEqual(
    origin.seen.map(({ headers }) => headers['x-form']),
    ['gold', 'silver', 'rest', 'rest'],
  )
})

test('directResponse: by condition, or on to the backend', async (t) => {
  const directResponse = {
    conditional: [
      { condition: 'request.path == "/a"', policy: { status: 410, body: 'gone' } },
      { condition: 'request.method == "PUT"', policy: { status: 405, headers: [{ name: 'allow', value: 'GET' }] } },
      { condition: 'dyn("true")', policy: { status: 500 } },
      { condition: 'jwt.sub == "x"', policy: { status: 500 } },
    ],
  }
  const { port, origin } = await setUp(t, { directResponse })
  assert.equal((await request(port, { path: '/a' })).body, 'gone')
  assert.equal((await request(port, { path: '/b', method: 'PUT' })).headers['allow'], 'GET')
  assert.equal((await request(port, { path: '/b' })).status, 200)
  assert.equal(origin.seen.length, 1)
})

test('conditions see what earlier policies found out and changed', async (t) => {
  const { port } = await setUp(t, {
    transformation: { request: { metadata: { tier: 'request.headers["x-tier"]' }, ...set(':path', '"/new"') } },
    directResponse: {
      conditional: [
        { condition: 'metadata.tier == "gold" && request.path == "/new"', policy: { status: 201 } },
        { policy: { status: 202 } },
      ],
    },
  })
  assert.equal((await request(port, { headers: { 'x-tier': 'gold' } })).status, 201)
  assert.equal((await request(port)).status, 202)
})

test('the choice is made once: what changes later does not change it', async (t) => {
  const { port } = await setUp(t, {
    transformation: {
      conditional: [
        {
          condition: 'request.path == "/a"',
          policy: { request: set(':path', '"/b"'), response: set('x-form', '"a"') },
        },
        { condition: 'request.path == "/b"', policy: { response: set('x-form', '"b"') } },
      ],
    },
  })
  assert.equal((await request(port, { path: '/a' })).headers['x-form'], 'a')
  assert.equal((await request(port, { path: '/c' })).headers['x-form'], undefined)
})

test('on the reply of an earlier policy nothing has been chosen', async (t) => {
  const { port } = await setUp(t, {
    authorization: { rules: [{ deny: 'request.path == "/no"' }] },
    transformation: { conditional: [{ policy: { response: set('x-form', '"1"') } }] },
  })
  const denied = await request(port, { path: '/no' })
  assert.equal(denied.status, 403)
  assert.equal(denied.headers['x-form'], undefined)
  assert.equal((await request(port)).headers['x-form'], '1')
})

test('the trace tells which form was taken, and why none was', async (t) => {
  const { port, gateway } = await setUp(t, {
    transformation: {
      conditional: [{ condition: 'request.path == "/a"', policy: { response: set('x-a', 'jwt.sub') } }],
    },
  })
  const results = async (path: string): Promise<unknown[]> => {
    const watched = gateway.trace()
    await request(port, { path })
    const isPolicy = ({ message }: TraceEvent): boolean => message['kind'] === 'transformation'
    return (await watched).filter(isPolicy).map(({ message }) => message['result'])
  }
  assert.deepEqual(await results('/a'), [
    { type: 'apply', details: { chosen: 0, condition: 'request.path == "/a"' } },
    { type: 'apply', details: { 'header x-a failed': 'no such key: jwt.sub' } },
  ])
  assert.deepEqual(await results('/b'), [
    { type: 'skip', reason: 'no condition is true' },
    { type: 'skip', reason: 'no form was chosen for this request' },
  ])
})

// Bodies.

test('a body that a condition reads is waited for', async (t) => {
  const { port, origin } = await setUp(t, {
    transformation: {
      conditional: [
        { condition: 'json(request.body).kind == "a"', policy: { request: set('x-form', '"a"') } },
        { policy: { request: set('x-form', '"rest"') } },
      ],
    },
  })
  for (const body of ['{"kind":"a"}', '{"kind":"b"}', 'no JSON', '']) await request(port, { method: 'POST', body })
  assert.deepEqual(
    origin.seen.map(({ headers }) => headers['x-form']),
    ['a', 'rest', 'rest', 'rest'],
  )
  assert.equal(origin.seen[0]!.body, '{"kind":"a"}')
})

test('a body that one form reads flows for requests of the others', async (t) => {
  const received: string[] = []
  const origin = await useTcpServer(t, (socket) => {
    const index = received.push('') - 1
    socket.setEncoding('latin1').on('data', (text) => {
      received[index] = received[index]! + text
      if (received[index].endsWith('last')) {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nstart\r\n')
      }
    })
  })
  const reading = {
    request: set('x-size', 'size(request.body)'),
    response: set('x-size', 'size(response.body)'),
  }
  const transformation = {
    conditional: [
      { condition: 'request.path == "/read"', policy: reading },
      { policy: { request: set('x-form', '"flow"'), response: set('x-form', '"flow"') } },
    ],
  }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { transformation })]))
  const clients = ['/read', '/flow'].map((path) => {
    const client = new RawClient(gateway.port())
    t.after(() => client.socket.destroy())
    client.send(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nfirst`)
    return client
  })
  await until(() => received.some((text) => text.endsWith('first')))
  assert.equal(received.length, 1)
  assert.match(received[0]!, /^POST \/flow /)
  for (const client of clients) client.send('last')
  await clients[1]!.until(/x-form: flow\r\n[^]*start/)
  await until(() => received.length === 2 && received[1]!.endsWith('firstlast'))
  assert.match(received[1]!, /x-size: 9\r\n/)
  origin.sockets[1]!.write('0\r\n\r\n')
  await clients[0]!.until(/x-size: 5\r\n[^]*start/)
})

test('a form refuses a body that is too large for it; the others do not', async (t) => {
  const origin = await useOrigin(t)
  const transformation = {
    conditional: [
      { condition: 'request.path == "/read"', policy: { request: set('x-size', 'size(request.body)') } },
      { condition: 'request.path == "/later"', policy: { response: set('x-size', 'size(request.body)') } },
    ],
  }
  const frontend = { http: { maxBufferSize: 1024 } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { transformation })], { frontend }))
  const post = (path: string, size: number) => request(gateway.port(), { method: 'POST', path, body: 'x'.repeat(size) })
  assert.equal((await post('/read', 1025)).status, 413)
  assert.equal((await post('/later', 1025)).status, 413)
  assert.equal((await post('/later', 1024)).headers['x-size'], '1024')
  assert.equal((await post('/rest', 5000)).status, 200)
})

// Loading.

test('the fallback must be the last, there must be a case, and both forms together are refused', async (t) => {
  const plain = { request: set('x-a', '"1"') }
  const bad: [policies: object, message: RegExp][] = [
    [
      { transformation: { ...plain, conditional: [{ policy: plain }] } },
      /either the conditional forms or the plain one/,
    ],
    [{ transformation: { conditional: [{ policy: plain }, { policy: plain }] } }, /the fallback at the end/],
    [
      { transformation: { conditional: [{ policy: plain }, { condition: 'true', policy: plain }] } },
      /the fallback at the end/,
    ],
    [{ transformation: { conditional: [] } }, /conditional/],
    [{ transformation: { conditional: Array(17).fill({ condition: 'true', policy: plain }) } }, /conditional/],
    [{ transformation: { conditional: [{ condition: 'true' }] } }, /policy/],
    [{ transformation: { conditional: [{ condition: 'response.code == 1', policy: plain }] } }, /unknown variable/],
    [{ transformation: { conditional: [{ condition: 'request.', policy: plain }] } }, /condition/],
    [{ transformation: { conditional: [{ condition: true, policy: plain }] } }, /put it in quotes/],
    [{ directResponse: { status: 200, conditional: [{ policy: { status: 200 } }] } }, /either the conditional forms/],
    [{ directResponse: { body: 'a', conditional: [{ policy: { status: 200 } }] } }, /either the conditional forms/],
    [{ directResponse: { conditional: [{ policy: { body: 'a' } }] } }, /status/],
    [{ directResponse: { conditional: [{ policy: { status: 200, conditional: [] } }] } }, /conditional/],
    [{ directResponse: {} }, /expected `status`, or `conditional`/],
  ]
  for (const [policies, message] of bad) await assert.rejects(setUp(t, policies), message, JSON.stringify(policies))
})

// Against a reference.

test('for any cases and any outcomes the first true one is taken, and its response part alone follows', () => {
  const outcome = fc.constantFrom('true', 'false', 'error', 'text')
  const cases = fc.tuple(fc.array(outcome, { maxLength: 15 }), fc.boolean())
  fc.assert(
    fc.property(cases, fc.boolean(), fc.boolean(), ([conditions, hasFallback], stops, responds) => {
      const forms = conditions.map((condition, i) => ({ condition, policy: { form: i } }))
      const list = hasFallback ? [...forms, { policy: { form: forms.length } }] : forms
      if (list.length === 0) return
      const ran: string[] = []
      const reply = new Reply(200, { reason: 'DirectResponse' })
      const step = conditional<{ form: number }>(({ form }): Step => ({
        request: () => {
          ran.push(`request ${form}`)
          if (stops) return reply
        },
        ...(responds && { response: () => void ran.push(`response ${form}`) }),
      }))({ conditional: list }, envOf())!
      const rx = { chosen: null, trace: null } as unknown as AnsweredRequest
      const result = step.request!(rx)
      void step.response?.(rx)
      const first = conditions.indexOf('true')
      const expected = first !== -1 ? first : hasFallback ? conditions.length : -1
      assert.deepEqual(
        ran,
        expected === -1 ? [] : [`request ${expected}`, ...(responds ? [`response ${expected}`] : [])],
      )
      assert.equal(result, expected !== -1 && stops ? reply : undefined)
    }),
    { seed: 31, numRuns: 1000 },
  )
})

test('a form keeps its state under a name of its own', () => {
  const attachments: string[] = []
  const make = conditional<{ form: number }>((_config, env) => {
    attachments.push(env.attachment)
    return null
  })
  make({ conditional: [{ condition: 'true', policy: { form: 0 } }, { policy: { form: 1 } }] }, envOf())
  make({ form: 2 }, envOf())
  assert.deepEqual(attachments, ['here/conditional/0', 'here/conditional/1', 'here'])
})

/** Conditions that come out as they are written. */
function envOf(): Env {
  const cel = (source: string): Expression => ({
    source,
    requestBody: 'none',
    responseBody: 'none',
    evaluate: () => source,
    isTrue: () => source === 'true',
  })
  return { cel, attachment: 'here', maxBufferBytes: 0 } as unknown as Env
}
