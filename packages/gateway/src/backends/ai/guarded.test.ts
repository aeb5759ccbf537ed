import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { exchangeRaw, request } from '../../testing/client.ts'
import { eventMessage } from '../../../../chat/src/testing/event-stream-message.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { useVendorGuards } from '../../testing/services/vendor-guards.ts'
import { clientCalls, type StreamName, vendorStreams } from './test-streams.ts'

/** Prompt guards over sockets, for every client format, with a provider of the same format and of another. */

const REQUEST_REJECTED = 'The request was rejected due to inappropriate content.'
const RESPONSE_REJECTED = 'The response was rejected due to inappropriate content.'
const FAILED = 'prompt guard failed'

const pairs: [client: StreamName, upstream: StreamName][] = [
  ['completions', 'completions'],
  ['completions', 'messages'],
  ['messages', 'messages'],
  ['messages', 'completions'],
  ['responses', 'responses'],
  ['responses', 'messages'],
  ['gemini', 'gemini'],
  ['gemini', 'messages'],
]
/** Longer than the text that batch guards hold back. */
const LONG = 'all is well here. '.repeat(150)

for (const [client, upstream] of pairs) {
  const call = clientCalls[client]
  const stream = vendorStreams[upstream]
  /** One piece per character, so that no match is in one piece. */
  const saying = (text: string) =>
    stream.start +
    stream.begin +
    text
      .split('')
      .map((letter) => stream.piece(letter))
      .join('') +
    stream.end

  describe(`${client} of a provider of ${upstream}`, () => {
    test('a streamed answer is masked over the boundaries of chunks', async (t) => {
      const response = [{ regex: { builtins: ['Email'], matches: ['secret-[0-9]+'] } }]
      const { post } = await setUp(t, { response }, 'mail ann@example.com or secret-42 now')
      const answer = await post(call.body())
      assert.equal(answer.status, 200)
      assert.equal(call.textOf(answer.body), 'mail <EMAIL_ADDRESS> or <masked> now')
      assert.equal(call.errorOf(answer.body), null)
    })

    test('a guarded stream stays one: what was looked at goes out while the rest is still to come', async (t) => {
      const { promise: seen, resolve: see } = Promise.withResolvers<void>()
      const guards = { response: [{ regex: { builtins: ['Email'] } }] }
      const { gateway } = await useGuarded(t, { guards, ...call, ...stream }, (_asked, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(stream.start + stream.begin + stream.piece('write to ann@example.com first. '))
        void seen.then(() => response.end(stream.piece('then rest') + stream.end))
      })
      const body = call.body()
      const head = `POST ${call.path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${body.length}`
      const received = await exchangeRaw(gateway.port(), `${head}\r\n\r\n${body}`, (text) => {
        if (text.includes('EMAIL_ADDRESS')) see()
        return text.endsWith('\r\n0\r\n\r\n')
      })
      assert.equal(call.textOf(received), 'write to <EMAIL_ADDRESS> first. then rest')
    })

    for (const kind of ['bedrockGuardrails', 'googleModelArmor'] as const) {
      test(`a streamed answer is blocked by ${kind}, and nothing of the word goes out`, async (t) => {
        const { post, gateway, events } = await setUp(t, { response: [kind] }, `${LONG}this is forbidden, ${LONG}`)
        const answer = await post(call.body())
        assert.equal(answer.status, 200)
        const text = call.textOf(answer.body)
        assert.ok(LONG.startsWith(text.slice(0, LONG.length)) && !text.includes('forbid'), text.slice(-40))
        assert.ok(text.length > 0, 'what was fine went out while it came')
        assert.equal(call.errorOf(answer.body), RESPONSE_REJECTED)
        await gateway.finished(1)
        assert.equal(gateway.records[0]!.reason, 'PromptGuard')
        assert.deepEqual(await verdicts(events), [`response ${kind} reject`])
      })
    }

    test('a short streamed answer is blocked before anything of it goes out', async (t) => {
      const { post } = await setUp(t, { response: ['googleModelArmor'] }, 'forbidden')
      const answer = await post(call.body())
      assert.equal(call.textOf(answer.body), '')
      assert.equal(call.errorOf(answer.body), RESPONSE_REJECTED)
    })

    test('a guard of a streamed answer that cannot run fails closed, and says so', async (t) => {
      const { post, gateway, events } = await setUp(t, { response: [await deafWebhook()] }, 'hello')
      const answer = await post(call.body())
      assert.equal(call.textOf(answer.body), '')
      assert.equal(call.errorOf(answer.body), FAILED)
      await gateway.finished(1)
      assert.equal(gateway.records[0]!.reason, 'PromptGuard')
      assert.deepEqual(await verdicts(events), ['response webhook failed'])
    })

    test('a guard of a request that cannot run fails closed, and says so', async (t) => {
      const { post, origin, events } = await setUp(t, { request: [await deafWebhook()] }, 'hello')
      for (const more of [{}, { stream: false }]) {
        const answer = await post(call.body(more))
        assert.deepEqual([answer.status, answer.body], [503, FAILED])
      }
      assert.equal(origin.seen.length, 0)
      assert.deepEqual(await verdicts(events), ['request webhook failed'])
    })

    test('a matching request is rejected with the message of the spec', async (t) => {
      const regex = { regex: { matches: ['hi'], action: 'Reject' } }
      const { post, origin, gateway } = await setUp(t, { request: [regex] }, 'hello')
      for (const more of [{}, { stream: false }]) {
        const answer = await post(call.body(more))
        assert.deepEqual([answer.status, answer.body], [403, REQUEST_REJECTED])
      }
      assert.equal(origin.seen.length, 0)
      await gateway.finished(2)
      assert.equal(gateway.records[0]!.reason, 'PromptGuard')
    })

    test('a response that is not the requested stream is refused, and none of it is sent', async (t) => {
      const finished = '"finish_reason":"stop","type":"message_stop","status":{"type":"response.completed"}'
      const whole = `{"choices":[{"message":{"content":"mail ann@example.com"}}],${finished},"content":"ann@example.com"}`
      for (const type of ['text/plain', 'text/event-stream']) {
        const guards = { response: [{ regex: { builtins: ['Email'] } }] }
        const { post, gateway } = await useGuarded(t, { guards, ...call, ...stream }, (_seen, response) => {
          response.writeHead(200, { 'content-type': type }).end(whole)
        })
        const answer = await post(call.body())
        assert.equal(answer.status, 502)
        assert.ok(!answer.body.includes('ann@'), answer.body)
        await gateway.finished(1)
        assert.equal(gateway.records[0]!.llm!.attempts[0]!.outcome, 'unreadable')
      }
    })

    async function setUp(t: TestContext, guards: Partial<Record<'request' | 'response', Entry[]>>, text: string) {
      return useGuarded(t, { guards, path: call.path, provider: stream.provider }, (_seen, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(saying(text))
      })
    }
  })
}

describe('messages of the spec, and of the config', () => {
  const call = clientCalls.completions
  const answer = (content: string) =>
    JSON.stringify({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    })
  const says =
    (content: string): OriginHandler =>
    (_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer(content))
    }
  const body = (content: string) => call.body({ messages: [{ role: 'user', content }], stream: false })
  const at = { path: call.path, provider: 'openai' }

  for (const kind of ['openAIModeration', 'bedrockGuardrails', 'googleModelArmor'] as const) {
    test(`${kind} on requests`, async (t) => {
      const { post, origin, asked } = await useGuarded(t, { guards: { request: [kind] }, ...at }, says('fine'))
      assert.equal((await post(body('all is well'))).status, 200)
      const refused = await post(body('forbidden'))
      assert.deepEqual([refused.status, refused.body], [403, REQUEST_REJECTED])
      assert.equal(origin.seen.length, 1)
      assert.equal(asked.length, 2)
    })
  }

  for (const kind of ['bedrockGuardrails', 'googleModelArmor'] as const) {
    test(`${kind} on answers`, async (t) => {
      const { post } = await useGuarded(t, { guards: { response: [kind] }, ...at }, says('this is forbidden'))
      const refused = await post(body('hi'))
      assert.deepEqual([refused.status, refused.body], [403, RESPONSE_REJECTED])
    })
  }

  test('a message and a status of the config stand in their place', async (t) => {
    const response = { message: 'not here', statusCode: 451 }
    const guards = { request: [{ regex: { matches: ['forbidden'], action: 'Reject' }, response }] }
    const { post } = await useGuarded(t, { guards, ...at }, says('fine'))
    const refused = await post(body('forbidden'))
    assert.deepEqual([refused.status, refused.body], [451, 'not here'])
  })

  test('answers are masked even where the config says reject, which is for requests', async (t) => {
    const guards = { response: [{ regex: { builtins: ['Ssn'], action: 'Reject' } }] }
    const { post } = await useGuarded(t, { guards, ...at }, says('it is 123-45-6789'))
    const masked = await post(body('hi'))
    assert.deepEqual([masked.status, masked.body.includes('it is <SSN>')], [200, true])
  })

  for (const phase of ['request', 'response'] as const) {
    test(`a ${phase} guard leaves unmasked text byte for byte, streamed and whole`, async (t) => {
      const guards = { [phase]: [{ regex: { builtins: ['Ssn'], action: 'Mask' } }] }
      const more = '"logprobs" : {"content":[]},"vendor":{"x":1.50}'
      const saying = (text: string) =>
        `{"id":"c","system_fingerprint":"fp","choices":[{"index":0,"message":{"role":"assistant","content":"a"},${more}},` +
        `{"index":1,"message":{"role":"assistant","content":"${text}"},"finish_reason":"stop","logprobs":null}]}`
      const streaming = (text: string) =>
        `data: {"id":"c","choices":[{"index":1,"delta":{"content":"${text}"},${more}}]}\n\n` +
        `data: {"id":"c","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`
      const { post, origin } = await useGuarded(t, { guards, ...at }, ({ body: asked }, response) => {
        const isStream = asked.includes('"stream":true')
        const type = isStream ? 'text/event-stream' : 'application/json'
        response.writeHead(200, { 'content-type': type }).end((isStream ? streaming : saying)('is 123-45-6789 ok'))
      })
      const told = phase === 'response' ? 'is <SSN> ok' : 'is 123-45-6789 ok'
      const messages = [{ role: 'user', content: 'I am 123-45-6789' }]
      assert.equal((await post(call.body({ messages, n: 2, stream: false }))).body, saying(told))
      const stream_options = { include_usage: true }
      const streamed = await post(call.body({ messages, n: 2, stream_options }))
      assert.equal(
        streamed.body,
        streaming(told).replace(
          phase === 'response' ? '"logprobs" : {"content":[]}' : '',
          phase === 'response' ? '"logprobs" : null' : '',
        ),
      )
      for (const { body: asked } of origin.seen) assert.equal(asked.includes('<SSN>'), phase === 'request')
    })
  }

  test('a guard of a whole answer that cannot run fails closed', async (t) => {
    const { post } = await useGuarded(t, { guards: { response: [await deafWebhook()] }, ...at }, says('hello'))
    const refused = await post(body('hi'))
    assert.deepEqual([refused.status, refused.body], [503, FAILED])
  })
})

/** Formats that only providers speak: character by character, with a tool call after the text. */
const foreign: Readonly<
  Record<'gemini' | 'bedrock', { type: string; stream: (text: string, args: object) => Buffer }>
> = {
  gemini: {
    type: 'text/event-stream',
    stream(text, args) {
      const record = (part: object, more: object = {}) =>
        `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [part] }, ...more }] })}\n\n`
      const letters = text.split('').map((letter) => record({ text: letter }))
      return Buffer.from(
        [...letters, record({ functionCall: { name: 'send', args } }, { finishReason: 'STOP' })].join(''),
      )
    },
  },
  bedrock: {
    type: 'application/vnd.amazon.eventstream',
    stream(text, args) {
      const deltas = (contentBlockIndex: number, pieces: object[]) =>
        pieces.map((delta) => eventMessage('contentBlockDelta', { contentBlockIndex, delta }))
      const letters = (value: string) => value.split('')
      return Buffer.concat([
        eventMessage('messageStart', { role: 'assistant' }),
        ...deltas(
          0,
          letters(text).map((letter) => ({ text: letter })),
        ),
        eventMessage('contentBlockStop', { contentBlockIndex: 0 }),
        eventMessage('contentBlockStart', {
          contentBlockIndex: 1,
          start: { toolUse: { toolUseId: 't1', name: 'send' } },
        }),
        ...deltas(
          1,
          letters(JSON.stringify(args)).map((input) => ({ toolUse: { input } })),
        ),
        eventMessage('contentBlockStop', { contentBlockIndex: 1 }),
        eventMessage('messageStop', { stopReason: 'tool_use' }),
        eventMessage('metadata', { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }),
      ])
    },
  },
}

for (const provider of ['gemini', 'bedrock'] as const) {
  for (const client of ['completions', 'messages', 'responses'] as const) {
    test(`${client} of ${provider}: texts and the arguments of tools are masked in a stream`, async (t) => {
      const { type, stream } = foreign[provider]
      const { path, body, textOf, errorOf } = clientCalls[client]
      const guards = { response: [{ regex: { builtins: ['Email'] } }] }
      const auth =
        provider === 'bedrock'
          ? { aws: { secretRef: { data: { accessKey: 'AKIDEXAMPLE', secretKey: 'secret' } } } }
          : undefined
      const { post, gateway } = await useGuarded(t, { guards, path, provider, auth }, (_seen, response) => {
        const sent = stream('mail ann@example.com now', { to: 'bob@example.com', 'at 9': true })
        response.writeHead(200, { 'content-type': type }).end(sent)
      })
      const answer = await post(body())
      assert.equal(answer.status, 200)
      assert.equal(textOf(answer.body), 'mail <EMAIL_ADDRESS> now')
      assert.equal(errorOf(answer.body), null)
      const pieces = answer.body.matchAll(/"(?:arguments|partial_json)":("(?:[^"\\]|\\.)*")/g)
      const told = [...pieces].map(([, piece]) => JSON.parse(piece!) as string).join('')
      assert.ok(told.includes('"to":"<EMAIL_ADDRESS>"') && !told.includes('bob'), told)
      await gateway.finished(1)
      assert.deepEqual(gateway.bugs, [])
    })
  }
}

type VendorGuard = 'openAIModeration' | 'bedrockGuardrails' | 'googleModelArmor'
/** A vendor's guard by name, a webhook by its port, or a regex guard as in the config. */
type Entry = VendorGuard | { webhookPort: number } | { regex: object }

interface Setting {
  guards: Partial<Record<'request' | 'response', Entry[]>>
  path: string
  provider: string
  auth?: object | undefined
}

async function deafWebhook(): Promise<{ webhookPort: number }> {
  return { webhookPort: await closedPort() }
}

async function useGuarded(t: TestContext, { guards, path, provider, auth }: Setting, handler: OriginHandler) {
  const origin = await useOrigin(t, handler)
  const { proxy, policies, asked } = await useVendorGuards(t)
  const backends: object[] = [proxy]
  const fields: Record<VendorGuard, object> = {
    openAIModeration: {},
    bedrockGuardrails: { identifier: 'g1', version: '1', region: 'us-east-1' },
    googleModelArmor: { templateId: 't1', projectId: 'p1' },
  }
  const configOf = (entry: Entry): object => {
    if (typeof entry === 'string') return { [entry]: { ...fields[entry], policies } }
    if (!('webhookPort' in entry)) return entry
    backends.push({ name: 'webhook', static: { host: '127.0.0.1', port: entry.webhookPort } })
    return { webhook: { backendRef: { name: 'webhook' } } }
  }
  const promptGuard = Object.fromEntries(Object.entries(guards).map(([phase, list]) => [phase, list.map(configOf)]))
  const route = {
    policies: { backend: { ai: { promptGuard }, ...(auth !== undefined && { auth }) } },
    backends: [{ ai: { provider: { [provider]: {}, host: '127.0.0.1', port: origin.port } } }],
  }
  const gateway = await useGateway(t, httpConfig([route], { backends }))
  const events = gateway.trace()
  return {
    origin,
    gateway,
    asked,
    /** The trace of the first request. */
    events,
    post: (body: string) => request(gateway.port(), { method: 'POST', path, body }),
  }
}

async function verdicts(events: ReturnType<Awaited<ReturnType<typeof useGateway>>['trace']>): Promise<string[]> {
  return (await events)
    .filter(({ message }) => message.type === 'promptGuard')
    .map(({ message }) => ['phase', 'guard', 'verdict'].map((name) => String(message[name])).join(' '))
}
