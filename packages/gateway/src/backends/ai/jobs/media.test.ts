import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import OpenAI, { BadRequestError } from 'openai'
import { request } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const USAGE = {
  input_tokens: 50,
  output_tokens: 1000,
  total_tokens: 1050,
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
}
const image = { created: 1, data: [{ b64_json: 'aGk=' }, { b64_json: 'aGk=' }], usage: USAGE }
const answers =
  (body: string | Buffer, headers: Record<string, string> = JSON_TYPE, status = 200): OriginHandler =>
  (_seen, response) =>
    response.writeHead(status, headers).end(body)
const images = answers(JSON.stringify(image))
/** An event with a picture of 300 kB, so that the usage is far from the type of its event. */
const pictures = [
  { type: 'image_generation.partial_image', b64_json: 'A'.repeat(300_000), partial_image_index: 0 },
  { type: 'image_generation.completed', b64_json: 'B'.repeat(300_000), usage: USAGE },
]
const events = (list: readonly { type: string }[]): string =>
  list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const EVENTS = { 'content-type': 'text/event-stream' }

interface Scene {
  handler: OriginHandler
  backend?: object
  policies?: object
}

async function setUp(t: TestContext, { handler, backend = {}, policies = {} }: Scene) {
  const origin = await useOrigin(t, handler)
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const route = {
    policies: { ...policies, backend: { auth: { key: 'sk-ours' }, ...backend } },
    backends: [{ ai: { provider } }],
  }
  const gateway = await useGateway(t, httpConfig([route]), { logFormat: 'json' })
  t.after(() => assert.deepEqual(gateway.bugs, []))
  const sdk = new OpenAI({ baseURL: `http://127.0.0.1:${gateway.port()}/v1`, apiKey: 'client', maxRetries: 0 })
  const post = (path: string, body: object) =>
    request(gateway.port(), {
      method: 'POST',
      path,
      headers: { accept: 'application/json' },
      body: JSON.stringify(body),
    })
  let ended = 0
  const line = async () => {
    await gateway.finished(++ended)
    return JSON.parse(gateway.lines[ended - 1] ?? '') as Record<string, unknown>
  }
  return { origin, gateway, sdk, post, line }
}

const draw = { model: 'gpt-image-1', prompt: 'a cat', n: 2 }
const say = { model: 'tts-1', input: 'häl😀o', voice: 'alloy' } as const

describe('images', () => {
  test('reach the SDK of OpenAI, and the log has tokens and images', async (t) => {
    const { origin, sdk, line } = await setUp(t, { handler: images })
    const { data } = await sdk.images.generate(draw)
    assert.deepEqual(data?.length, 2)
    const [seen] = origin.seen
    assert.deepEqual([seen?.url, JSON.parse(seen?.body ?? '')], ['/v1/images/generations', draw])
    assert.equal(seen?.headers.authorization, 'Bearer sk-ours')
    const fields = await line()
    assert.deepEqual(
      [
        'gen_ai.operation.name',
        'gen_ai.request.model',
        'gen_ai.usage.input_tokens',
        'gen_ai.usage.output_tokens',
        'portico.ai.units',
      ].map((name) => fields[name]),
      ['image_generation', 'gpt-image-1', 50, 1000, 'images:2'],
    )
  })

  test('are streamed, and usage at the end of a large event is read', async (t) => {
    const { sdk, line } = await setUp(t, { handler: answers(events(pictures), EVENTS) })
    const types: string[] = []
    for await (const event of await sdk.images.generate({ ...draw, n: 1, stream: true, partial_images: 1 })) {
      types.push(event.type)
    }
    assert.deepEqual(
      types,
      pictures.map(({ type }) => type),
    )
    const fields = await line()
    assert.deepEqual(
      [fields['gen_ai.usage.output_tokens'], fields['reason'], typeof fields['portico.ai.time_to_first_token']],
      [1000, undefined, 'string'],
    )
  })

  test('cost by tokens, by image, or nothing that is known', async (t) => {
    const prices = (row: object) => ({ prices: { models: [{ model: 'gpt-image-1', ...row }], table: 'None' } })
    const cost = async (row: object, handler = images) => {
      const { post, line } = await setUp(t, { handler, backend: prices(row) })
      await post('/v1/images/generations', draw)
      return (await line())['portico.ai.cost_usd']
    }
    assert.equal(await cost({ rates: { input: 5, output: 40 } }), 0.04025)
    assert.equal(await cost({ units: { image: 0.04 } }), 0.08)
    assert.equal(await cost({ units: { second: 0.04 } }), undefined)
    const { usage: _usage, ...silent } = image
    assert.equal(await cost({ rates: { input: 5, output: 40 } }, answers(JSON.stringify(silent))), undefined)
    assert.equal(
      await cost({ units: { image: 0.04 } }, answers('{"error":{"message":"no"}}', JSON_TYPE, 400)),
      undefined,
    )
  })

  test('are reserved from a budget before they are made', async (t) => {
    const { post, gateway } = await setUp(t, {
      handler: images,
      backend: { prices: { models: [{ model: 'gpt-image-1', units: { image: 0.04 } }], table: 'None' } },
      policies: { budget: { limits: [{ name: 'team', usd: 0.2, per: 'Day' }] } },
    })
    const statuses: number[] = []
    for (const n of [2, 4, 2, 2]) {
      const { status, body } = await post('/v1/images/generations', { ...draw, n })
      statuses.push(status)
      if (status === 429) assert.match(body, /"code":"budget_exceeded"/)
      await gateway.finished(statuses.length)
    }
    // Eight cents, then 16 of the 12 that are left, then eight, then eight of the four that are left.
    assert.deepEqual(statuses, [200, 429, 200, 429])
  })

  test('are guarded by their prompt', async (t) => {
    const ai = { promptGuard: { request: [{ regex: { builtins: ['Ssn'], action: 'Mask' } }] } }
    const { origin, post } = await setUp(t, { handler: images, backend: { ai } })
    await post('/v1/images/generations', { ...draw, prompt: 'a card with 123-45-6789', odd: ['123-45-6789'] })
    const { prompt, odd, n } = JSON.parse(origin.seen[0]?.body ?? '') as Record<string, unknown>
    assert.deepEqual([prompt, odd, n], ['a card with <SSN>', ['<SSN>'], 2])
    const rejecting = { promptGuard: { request: [{ regex: { builtins: ['Ssn'], action: 'Reject' } }] } }
    const other = await setUp(t, { handler: images, backend: { ai: rejecting } })
    assert.equal((await other.post('/v1/images/generations', { ...draw, prompt: '123-45-6789' })).status, 403)
    assert.equal(other.origin.seen.length, 0)
  })

  test('fail over before their first byte, also to another vendor, by virtual models', async (t) => {
    const down = await useOrigin(t, answers('{}', JSON_TYPE, 503))
    const up = await useOrigin(t, images)
    const at = ({ port }: { port: number }) => ({ host: '127.0.0.1', port })
    const models = [
      { name: 'a', provider: { openai: { model: 'gpt-image-1' }, ...at(down) } },
      { name: 'b', provider: { gemini: { model: 'imagen-4' }, ...at(up) }, policies: { auth: { key: 'k' } } },
      { name: 'draw', targets: [{ model: 'a' }, { model: 'b' }] },
    ]
    const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { models } }] }]))
    const { status, body } = await request(gateway.port(), {
      method: 'POST',
      path: '/v1/images/generations',
      body: JSON.stringify({ ...draw, model: 'draw' }),
    })
    assert.equal(status, 200, body)
    assert.equal(up.seen[0]?.url, '/v1beta/openai/images/generations')
    assert.equal((JSON.parse(up.seen[0]?.body ?? '') as { model: string }).model, 'imagen-4')
  })
})

describe('speech', () => {
  test('is bytes for the SDK of OpenAI, and counts characters', async (t) => {
    const sound = Buffer.from([0xff, 0xf3, 0, 1, 2, 3])
    const prices = { models: [{ model: 'tts-*', units: { character: 0.000015 } }], table: 'None' }
    const { sdk, line } = await setUp(t, {
      handler: answers(sound, { 'content-type': 'audio/mpeg' }),
      backend: { prices },
    })
    const response = await sdk.audio.speech.create(say)
    assert.equal(response.headers.get('content-type'), 'audio/mpeg')
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), sound)
    const fields = await line()
    assert.deepEqual(
      [fields['gen_ai.operation.name'], fields['portico.ai.units'], fields['portico.ai.cost_usd']],
      ['speech', 'characters:5', 0.000075],
    )
  })

  test('arrives while it is made', async (t) => {
    let finish = (): void => {}
    const { gateway } = await setUp(t, {
      handler: (_seen, response) => {
        response.writeHead(200, { 'content-type': 'audio/mpeg' }).write('first')
        finish = () => response.end('last')
      },
    })
    const response = await fetch(`http://127.0.0.1:${gateway.port()}/v1/audio/speech`, {
      method: 'POST',
      body: JSON.stringify(say),
    })
    const reader = (response.body ?? assert.fail('no body')).getReader()
    const read = async () => Buffer.from((await reader.read()).value ?? []).toString()
    assert.equal(await read(), 'first')
    finish()
    assert.equal(await read(), 'last')
  })

  test('has its usage in events', async (t) => {
    const stream = [
      { type: 'speech.audio.delta', audio: 'aGk=' },
      { type: 'speech.audio.done', usage: { input_tokens: 14, output_tokens: 101, total_tokens: 115 } },
    ]
    const { post, line } = await setUp(t, { handler: answers(events(stream), EVENTS) })
    assert.equal((await post('/v1/audio/speech', { ...say, stream_format: 'sse' })).body, events(stream))
    const fields = await line()
    assert.deepEqual([fields['gen_ai.usage.input_tokens'], fields['gen_ai.usage.output_tokens']], [14, 101])
  })
})

describe('a provider that fails', () => {
  test('has its error in the format of the client', async (t) => {
    const error = { error: { message: 'too rude', type: 'image_generation_user_error', code: 'moderation_blocked' } }
    const { sdk } = await setUp(t, { handler: answers(JSON.stringify(error), JSON_TYPE, 400) })
    await assert.rejects(sdk.images.generate(draw), (thrown) => {
      assert.ok(thrown instanceof BadRequestError)
      assert.equal(thrown.code, 'moderation_blocked')
      return true
    })
  })

  const faults: readonly [string, OriginHandler, RegExp][] = [
    ['sends no JSON', answers('<html>'), /not JSON/],
    ['sends nothing', answers(''), /too early/],
    ['ends its stream too early', answers(events(pictures.slice(0, 1)), EVENTS), /too early/],
    [
      'sends an error in its stream',
      answers(
        `${events(pictures.slice(0, 1))}event: error\ndata: {"type":"error","error":{"message":"no"}}\n\n`,
        EVENTS,
      ),
      /sent an error/,
    ],
  ]
  for (const [what, handler, error] of faults) {
    test(`counts as failed when it ${what}`, async (t) => {
      const { gateway, post } = await setUp(t, { handler })
      assert.equal((await post('/v1/images/generations', draw)).status, 200)
      await gateway.finished(1)
      const [record] = gateway.records
      assert.equal(record?.reason, 'UpstreamFailure')
      assert.match(record?.error ?? '', error)
      assert.equal(record?.llm?.isEstimated, true)
      assert.deepEqual(
        record?.llm?.attempts.map(({ outcome }) => outcome),
        ['unreadable'],
      )
    })
  }

  test('resets the client when it dies in the middle, and log and record say so', async (t) => {
    const { gateway } = await setUp(t, {
      handler: (_seen, response) => {
        response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': '1000' }).write('some')
        setImmediate(() => response.destroy())
      },
    })
    const url = `http://127.0.0.1:${gateway.port()}/v1/audio/speech`
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(say) })
    await assert.rejects(response.arrayBuffer())
    await gateway.finished(1)
    const [record] = gateway.records
    assert.equal(record?.reason, 'UpstreamFailure')
    assert.deepEqual(
      record?.llm?.attempts.map(({ outcome }) => outcome),
      ['connection_lost'],
    )
  })

  test('refuses the connection: 502 or 503, and nothing is charged', async (t) => {
    const { gateway, post, origin } = await setUp(t, {
      handler: (_seen, _response, message) => message.socket.destroy(),
    })
    const { status } = await post('/v1/audio/speech', say)
    assert.ok(status >= 500)
    assert.ok(origin.seen.length > 0)
    await gateway.finished(1)
    assert.equal(gateway.records[0]?.llm?.hasUsage, false)
  })
})

test('a provider without the call says so, and a body that is no JSON is refused', async (t) => {
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { provider: { anthropic: {} } } }] }]))
  const post = (path: string, body: string) => request(gateway.port(), { method: 'POST', path, body })
  assert.match((await post('/v1/images/generations', JSON.stringify(draw))).body, /anthropic has no calls of this type/)
  assert.match((await post('/v1/audio/speech', JSON.stringify(say))).body, /anthropic has no calls of this type/)
  assert.equal((await post('/v1/audio/speech', '{')).status, 400)
})
