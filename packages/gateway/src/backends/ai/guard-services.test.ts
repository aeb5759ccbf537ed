import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test, type TestContext } from 'node:test'
import { failureShapes } from '../../llm/guards/testing/failure-shapes.ts'
import { request } from '../../testing/client.ts'
import { startGateway } from '../../testing/gateway.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { useVendorGuards } from '../../testing/services/vendor-guards.ts'
import { clientCalls, type StreamName, vendorStreams } from './test-streams.ts'

/** Guards whose verdict comes from a service, over sockets: what client, service, trace, record and metrics see. */

const REQUEST_REJECTED = 'The request was rejected due to inappropriate content.'
const RESPONSE_REJECTED = 'The response was rejected due to inappropriate content.'

/** Guards of services at a backend `scan`, which denies `forbidden` or masks `Ann`. */
const atBackend = {
  http: { path: '/scan', body: '{"text": text}', reject: 'response.body.bad', mask: 'response.body.spans' },
  presidio: {},
}
const atVendor = { lakera: {}, azureContentSafety: { host: 'mine.cognitiveservices.azure.com', analyze: {} } }

/** The service behind `scan`: it counts characters as Python does. */
const scan: OriginHandler = ({ url, body }, response) => {
  const { text } = JSON.parse(body) as { text: string | string[] }
  const spansIn = (one: string) =>
    [...one.matchAll(/Ann/g)].map(({ index }) => {
      const start = Array.from(one.slice(0, index)).length
      return { start, end: start + 3, mask: '<PERSON>', entity_type: 'PERSON', score: 0.9 }
    })
  const answer =
    url === '/analyze' ? [text].flat().map(spansIn) : { bad: text.includes('forbidden'), spans: spansIn(String(text)) }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

interface Setting {
  guards: Partial<Record<'request' | 'response', object>>
  client?: StreamName
  upstream?: StreamName
  /** The text of the provider. */
  says?: string
  service?: OriginHandler
  servicePort?: number
}

async function setUp(t: TestContext, setting: Setting) {
  const { guards, client = 'completions', upstream = client, says = 'hello', service = scan } = setting
  const stream = vendorStreams[upstream]
  const letters = Array.from(says, (letter) => stream.piece(letter)).join('')
  const provider = await useOrigin(t, (_seen, response) => {
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(stream.start + stream.begin + letters + stream.end)
  })
  const scanner = await useOrigin(t, service)
  const { proxy, policies, asked, credentials } = await useVendorGuards(t)
  const configOf = (guard: object) => {
    const [[name, fields] = ['', {}]] = Object.entries(guard) as [string, object][]
    return { [name]: name in atVendor ? { ...fields, policies } : { ...fields, backendRef: { name: 'scan' } } }
  }
  const promptGuard = Object.fromEntries(Object.entries(guards).map(([phase, guard]) => [phase, [configOf(guard)]]))
  const route = {
    policies: { backend: { ai: { promptGuard } } },
    backends: [{ ai: { provider: { [stream.provider]: {}, host: '127.0.0.1', port: provider.port } } }],
  }
  const port = setting.servicePort ?? scanner.port
  const scanBackend = {
    name: 'scan',
    static: { host: '127.0.0.1', port },
    policies: { auth: { key: 'scan-key' } },
  }
  const gateway = await useGateway(t, httpConfig([route], { backends: [proxy, scanBackend] }))
  const call = clientCalls[client]
  return {
    ...{ gateway, provider, scanner, asked, credentials, call, events: gateway.trace() },
    post: async (body: string) => {
      const answer = await request(gateway.port(), { method: 'POST', path: call.path, body })
      return { ...answer, body: Buffer.from(answer.body, 'latin1').toString() }
    },
    /** A prompt with this text, in the format of Chat Completions. */
    prompt: (content: string, more: object = {}) => call.body({ messages: [{ role: 'user', content }], ...more }),
  }
}

async function verdictsIn(events: ReturnType<Awaited<ReturnType<typeof useGateway>>['trace']>) {
  return (await events)
    .filter(({ message }) => message.type === 'promptGuard')
    .map(({ message }) => ['phase', 'guard', 'verdict'].map((name) => String(message[name])).join(' '))
}

const denies = { ...atVendor, http: atBackend.http, presidio: { action: 'Reject', entities: ['PERSON'] } }
for (const [kind, fields] of Object.entries(denies)) {
  const word = kind === 'presidio' ? 'Ann' : 'forbidden'
  const guard = { [kind]: fields }

  test(`${kind} denies a prompt before the provider gets it, with the credential of its policies`, async (t) => {
    const { post, prompt, provider, scanner, credentials, gateway, events } = await setUp(t, {
      guards: { request: guard },
    })
    assert.equal((await post(prompt('all is well'))).status, 200)
    const denied = await post(prompt(`this is ${word}`))
    assert.deepEqual([denied.status, denied.body], [403, REQUEST_REJECTED])
    assert.equal(provider.seen.length, 1)
    const expected = {
      lakera: 'authorization: Bearer guard-key',
      azureContentSafety: 'ocp-apim-subscription-key: guard-key',
    }[kind]
    if (expected === undefined) assert.equal(scanner.seen[0]?.headers.authorization, 'Bearer scan-key')
    else assert.deepEqual(credentials, [expected, expected])
    await gateway.finished(2)
    assert.equal(gateway.records[1]!.reason, 'PromptGuard')
    assert.deepEqual(await verdictsIn(events), [`request ${kind} pass`])
  })

  test(`${kind} denies a streamed response, and nothing of the word goes out`, async (t) => {
    const fine = 'all is well here. '.repeat(150)
    const says = `${fine}this is ${word}, ${fine}`
    const { post, call, gateway, events } = await setUp(t, {
      ...{ guards: { response: guard }, says, client: 'messages', upstream: 'completions' },
    })
    const answer = await post(call.body())
    assert.equal(answer.status, 200)
    const text = call.textOf(answer.body)
    assert.ok(text.length > 0 && fine.startsWith(text.slice(0, fine.length)) && !text.includes(word))
    assert.equal(call.errorOf(answer.body), RESPONSE_REJECTED)
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.reason, 'PromptGuard')
    assert.deepEqual(await verdictsIn(events), [`response ${kind} reject`])
  })
}

for (const [kind, fields] of Object.entries(atBackend)) {
  test(`${kind} masks a prompt behind emoji, and the provider gets the mask`, async (t) => {
    const { post, prompt, provider } = await setUp(t, { guards: { request: { [kind]: fields } } })
    assert.equal((await post(prompt('😀 I am Ann 👩‍👩‍👧 Ann'))).status, 200)
    assert.match(provider.seen[0]?.body ?? '', /"😀 I am <PERSON> 👩‍👩‍👧 <PERSON>"/)
  })

  for (const [client, upstream] of [
    ['completions', 'completions'],
    ['responses', 'messages'],
  ] as const) {
    test(`${kind} masks a stream for ${client} over the boundaries of batches, from ${upstream}`, async (t) => {
      const says = '😀 hello to Ann and to all of you. '.repeat(100)
      const { post, call, scanner } = await setUp(t, {
        ...{ guards: { response: { [kind]: fields } }, says, client, upstream },
      })
      const answer = await post(call.body())
      assert.equal(call.textOf(answer.body), says.replaceAll('Ann', '<PERSON>'))
      assert.equal(call.errorOf(answer.body), null)
      assert.ok(scanner.seen.length > 2, 'several batches')
    })
  }
}

describe('a guard service that fails', () => {
  const guard = { http: { ...atBackend.http, timeout: '1s' } }
  for (const [name, { answer, reason }] of Object.entries(failureShapes)) {
    if (name === 'silence') continue
    test(`with ${name}: client, trace, record and metrics say so, and the provider is not called`, async (t) => {
      const { post, prompt, provider, gateway, events } = await setUp(t, {
        guards: { request: guard },
        service: answer,
      })
      const denied = await post(prompt('my secret'))
      assert.deepEqual([denied.status, denied.body], [503, 'prompt guard failed'])
      assert.equal(provider.seen.length, 0)
      await gateway.finished(1)
      assert.equal(gateway.records[0]!.reason, 'PromptGuard')
      assert.match(gateway.metrics(), /requests_total\{[^}]*status="503"[^}]*\} 1/)
      const [event] = (await events).filter(({ message }) => message.type === 'promptGuard')
      assert.deepEqual([event?.message['guard'], event?.message['verdict']], ['http', 'failed'])
      assert.match(String(event?.message['reason']), reason)
      assert.doesNotMatch(JSON.stringify([event, gateway.records[0]!.reason]), /secret|scan-key/)
      assert.deepEqual(gateway.bugs, [])
    })
  }

  test('by refusing the connection: the same', async (t) => {
    const { post, prompt, provider, events } = await setUp(t, {
      ...{ guards: { request: guard }, servicePort: await closedPort() },
    })
    assert.deepEqual((await post(prompt('hi'))).status, 503)
    assert.equal(provider.seen.length, 0)
    assert.deepEqual(await verdictsIn(events), ['request http failed'])
  })

  test('in the middle of a stream: the client gets the error, and no more of the text', async (t) => {
    let calls = 0
    const service: OriginHandler = (seen, response, asked) =>
      ++calls === 1 ? scan(seen, response, asked) : void response.writeHead(500).end()
    const fine = 'all is well here. '.repeat(150)
    const { post, call, gateway, events } = await setUp(t, { guards: { response: guard }, says: fine, service })
    const answer = await post(call.body())
    assert.equal(call.errorOf(answer.body), 'prompt guard failed')
    const text = call.textOf(answer.body)
    assert.ok(text.length > 0 && text.length < fine.length && fine.startsWith(text))
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.reason, 'PromptGuard')
    assert.deepEqual(await verdictsIn(events), ['response http failed'])
  })

  test('lets texts pass where the config says so, and the trace names it', async (t) => {
    const open = { http: { ...guard.http, failureMode: 'FailOpen' } }
    const service: OriginHandler = (_seen, response) => void response.writeHead(500).end()
    const { post, prompt, events } = await setUp(t, { guards: { request: open, response: open }, service })
    assert.equal((await post(prompt('hi'))).status, 200)
    assert.deepEqual(await verdictsIn(events), ['request http failedOpen', 'response http failedOpen'])
  })
})

test('two guards of one vendor at different hosts call their own host', async (t) => {
  const { proxy, policies, asked } = await useVendorGuards(t)
  const guards = ['us.lakera.test', 'eu.lakera.test'].map((host) => ({ lakera: { host, policies } }))
  const route = {
    policies: { backend: { ai: { promptGuard: { request: guards } } } },
    backends: [{ ai: { provider: { mock: {} } } }],
  }
  const gateway = await useGateway(t, httpConfig([route], { backends: [proxy] }))
  const body = clientCalls.completions.body({ stream: false })
  assert.equal((await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body })).status, 200)
  assert.deepEqual(asked, ['us.lakera.test/v2/guard', 'eu.lakera.test/v2/guard'])
})

test('the service of the reader of the docs masks and denies as the page says', async (t) => {
  const page = readFileSync(new URL('../../llm/guards/README.md', import.meta.url), 'utf8')
  const [, config = ''] = /```yaml\n(backends:[^]*?)```/.exec(page) ?? []
  const scanner = await useOrigin(t, ({ body }, response) => {
    const { documents } = JSON.parse(body) as { documents: string[] }
    const entities = documents.flatMap((text, doc) =>
      [...text.matchAll(/Ann/g)].map(({ index: from }) => ({ doc, from, to: from + 3, kind: 'NAME' })),
    )
    response.end(JSON.stringify({ verdict: body.includes('forbidden') ? 'block' : 'allow', entities }))
  })
  const gateway = await startGateway(config.replace('port: 9000', `port: ${scanner.port}`).replace('8080', '0'))
  t.after(() => gateway.close())
  const ask = (content: string) =>
    request(gateway.port(), {
      ...{ method: 'POST', path: '/v1/chat/completions', headers: { 'x-tenant': 'acme' } },
      body: clientCalls.completions.body({ messages: [{ role: 'user', content }], stream: false }),
    })
  assert.match((await ask('I am Ann')).body, /I am <NAME>/)
  assert.equal(scanner.seen[0]?.body, '{"documents":["I am Ann"],"direction":"request"}')
  const { 'x-tenant': tenant, authorization } = scanner.seen[0]?.headers ?? {}
  assert.deepEqual([tenant, authorization], ['acme', 'Bearer scanner-key'])
  const denied = await ask('forbidden')
  assert.deepEqual([denied.status, denied.body], [422, 'Please leave customer data out.'])
})
