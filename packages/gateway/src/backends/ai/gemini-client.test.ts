import assert from 'node:assert/strict'
import { ApiError, GoogleGenAI, type HttpOptions } from '@google/genai'
import { describe, it, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

/** Clients that speak Google's API, whose paths name the model and whether to stream. */

const generated = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'well' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
  modelVersion: 'gemini-2.5-flash-001',
  responseId: 'r1',
  newMember: { kept: true },
}
const completion = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4.1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'well' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
}

function sends(body: object, status = 200): OriginHandler {
  return (_seen, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
}

interface Setting {
  provider?: object
  policies?: object
  ai?: object
  models?: (port: number) => object[]
  config?: object
}

async function setUp(t: TestContext, handler: OriginHandler, setting: Setting = {}) {
  const { provider = { gemini: {} }, policies = {}, ai = {}, models, config = {} } = setting
  const origin = await useOrigin(t, handler)
  const own = { ...provider, host: '127.0.0.1', port: origin.port }
  const backend = {
    ai: models === undefined ? { provider: own } : { models: models(origin.port) },
    policies: { auth: { key: 'AIzaOfGateway' }, ai },
  }
  const gateway = await useGateway(t, { ...httpConfig([{ policies, backends: [backend] }]), ...config })
  const url = `http://127.0.0.1:${gateway.port()}`
  const sdk = (key = 'client-key', options: HttpOptions = {}): GoogleGenAI =>
    new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url, ...options } })
  const post = (path: string, body: object | string, headers: Record<string, string> = {}) =>
    request(gateway.port(), {
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return { origin, gateway, sdk, post }
}

const MODEL = 'gemini-2.5-flash'
const path = `/v1beta/models/${MODEL}:generateContent`
const asked = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }

describe('to Gemini', () => {
  test('a request passes byte for byte, and the response with members that nobody knows', async (t) => {
    const { origin, gateway, post } = await setUp(t, sends(generated))
    const body = `{ "newSetting" : {"a":[1.50]},\n"contents":[{"parts":[{"text":"hi","newPart":12345678901234567890}]}] }`
    const answer = await post(path, body)
    assert.equal(origin.seen[0]?.body, body)
    assert.equal(origin.seen[0]?.url, path)
    assert.deepEqual(JSON.parse(answer.body), generated)
    await gateway.finished(1)
    const { llm } = gateway.records[0]!
    assert.deepEqual(
      [llm?.operation, llm?.requestModel, llm?.responseModel, llm?.usage.input, llm?.usage.output, llm?.streaming],
      ['chat', MODEL, 'gemini-2.5-flash-001', 7, 3, false],
    )
    assert.match(gateway.lines[0]!, new RegExp(`gen_ai\\.request\\.model=${MODEL} `))
  })

  test('the model is that of the path after aliases, and never stands in the body', async (t) => {
    const { origin, post } = await setUp(t, sends(generated), { ai: { modelAliases: { fast: MODEL } } })
    await post('/v1beta/models/fast:generateContent', { model: 'models/fast', ...asked })
    assert.equal(origin.seen[0]?.url, path)
    assert.deepEqual(JSON.parse(origin.seen[0]?.body ?? ''), asked)
  })

  test('paths of Vertex AI are served too', async (t) => {
    const { origin, post } = await setUp(t, sends(generated))
    const answer = await post(
      `/v1beta1/projects/p/locations/l/publishers/google/models/${MODEL}:generateContent`,
      asked,
    )
    assert.deepEqual([answer.status, origin.seen[0]?.url], [200, path])
  })

  test('a policy edits the body and adds to the conversation; all else stays as the client wrote it', async (t) => {
    const ai = {
      overrides: [{ field: 'labels', value: { team: 'a' } }],
      prompt: { prepend: [{ role: 'system', content: 'Be brief.' }] },
    }
    const { origin, post } = await setUp(t, sends(generated), { ai })
    const tools = [
      { functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT', newWord: 1 } }] },
      { newTool: {} },
    ]
    const body = { system_instruction: { parts: [{ text: 'Be kind.', new: 1 }] }, ...asked, tools, newSetting: 1 }
    await post(path, body)
    assert.deepEqual(JSON.parse(origin.seen[0]?.body ?? ''), {
      newSetting: 1,
      tools,
      labels: { team: 'a' },
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.', new: 1 }] },
      contents: asked.contents,
    })
  })

  test('request guards mask in place, in both spellings of a member', async (t) => {
    const promptGuard = { request: [{ regex: { builtins: ['Ssn'], action: 'Mask' } }] }
    const { origin, post } = await setUp(t, sends(generated), { ai: { promptGuard } })
    const call = { role: 'model', parts: { function_call: { name: 'f', args: { of: '123-45-6789' } } } }
    const result = { function_response: { name: 'f', response: { n: '123-45-6789' } } }
    const contents = [{ parts: { text: 'I am 123-45-6789' } }, call, { parts: [result] }]
    await post(path, { system_instruction: { parts: { text: 'For 123-45-6789' } }, contents, new_member: 7 })
    const seen = origin.seen[0]?.body ?? ''
    assert.ok(!seen.includes('6789'), seen)
    assert.match(seen, /"system_instruction":\{"parts":\{"text":"For <SSN>"\}\}.*"new_member":7/)
  })
})

test('a masked request with a large number is still a stream, of the model of the path', async (t) => {
  const promptGuard = { request: [{ regex: { builtins: ['Ssn'], action: 'Mask' } }] }
  const { origin, post } = await setUp(t, sends(completion), { provider: { openai: {} }, ai: { promptGuard } })
  const call = '{"role":"model","parts":[{"functionCall":{"name":"f","args":{"id":12345678901234567890}}}]}'
  const result = '{"parts":[{"functionResponse":{"name":"f","response":{"output":"123-45-6789"}}}]}'
  await post('/v1beta/models/gpt-4.1:streamGenerateContent?alt=sse', `{"contents":[${call},${result}]}`)
  const seen = origin.seen[0]?.body ?? ''
  assert.match(seen, /"arguments":"\{\\"id\\":12345678901234567890\}".*<SSN>/)
  const { model, stream } = JSON.parse(seen) as { model: string; stream: boolean }
  assert.deepEqual([model, stream], ['gpt-4.1', true])
})

describe('requests that cannot be served', () => {
  const cases: [name: string, path: string, body: object, says: RegExp][] = [
    ['another model in the body', path, { ...asked, model: 'models/other' }, /not the model of the path/],
    ['`stream` in the body', path, { ...asked, stream: true }, /`stream` is unknown/],
    ['no model', '/v1beta/endpoints/7:generateContent', asked, /names no model/],
    ['a model that is no text', '/v1beta/models/%C3%28:generateContent', asked, /names no model/],
    ['no object', path, [], /must be a JSON object/],
  ]
  for (const [name, target, body, says] of cases) {
    it(`${name}: 400 in Google's form, and the provider gets nothing`, async (t) => {
      const { origin, gateway, post } = await setUp(t, sends(generated))
      const answer = await post(target, body)
      const { error } = JSON.parse(answer.body) as { error: { code: number; status: string; message: string } }
      assert.deepEqual([answer.status, error.code, error.status], [400, 400, 'INVALID_ARGUMENT'])
      assert.match(error.message, says)
      assert.equal(origin.seen.length, 0)
      await gateway.finished(1)
      assert.equal(gateway.records[0]!.reason, 'InvalidRequest')
    })
  }
})

describe('the library of Google', () => {
  test("gets errors of another vendor's model as its own", async (t) => {
    const refusal = { error: { message: 'slow down', type: 'rate_limit_error', param: null, code: 'rate_limited' } }
    const { sdk } = await setUp(t, sends(refusal, 429), { provider: { openai: {} } })
    await assert.rejects(sdk().models.generateContent({ model: 'gpt-4.1', contents: 'hi' }), (error) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.status, 429)
      assert.match(error.message, /"message":"slow down","status":"RESOURCE_EXHAUSTED".*"reason":"rate_limited"/)
      return true
    })
  })

  test('gets errors of Gemini unchanged', async (t) => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3s' }]
    const refusal = { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details } }
    const { post } = await setUp(t, sends(refusal, 429))
    const answer = await post(path, asked)
    assert.deepEqual([answer.status, JSON.parse(answer.body)], [429, refusal])
  })

  test('chooses among models of the config, and names of other vendors with a slash', async (t) => {
    const models = (port: number) => [
      { name: 'smart', provider: { openai: { model: 'gpt-4.1' }, host: '127.0.0.1', port } },
      { name: 'openai/*', provider: { openai: {}, host: '127.0.0.1', port } },
    ]
    const { origin, sdk } = await setUp(t, sends(completion), { models })
    for (const model of ['smart', 'openai/gpt-4.1']) {
      const { text, usageMetadata, modelVersion } = await sdk().models.generateContent({ model, contents: 'hi' })
      assert.deepEqual([text, usageMetadata?.totalTokenCount, modelVersion], ['well', 10, 'gpt-4.1'])
    }
    const sent = origin.seen.map(({ body }) => (JSON.parse(body) as { model: string }).model)
    assert.deepEqual(sent, ['gpt-4.1', 'gpt-4.1'])
    await assert.rejects(
      sdk().models.generateContent({ model: 'smrt', contents: 'hi' }),
      (error) => error instanceof ApiError && error.status === 404 && error.message.includes('did you mean `smart`'),
    )
  })

  test('gets the refusal of a budget, which knows the maximum of the request', async (t) => {
    const budget = { limits: [{ name: 'house', tokens: 1_000, per: 'Day' }] }
    const { sdk, gateway } = await setUp(t, sends(generated), { policies: { budget } })
    const ask = (maxOutputTokens: number) =>
      sdk().models.generateContent({ model: MODEL, contents: 'hi', config: { maxOutputTokens } })
    assert.equal((await ask(100)).text, 'well')
    await assert.rejects(
      ask(2_000),
      (error) =>
        error instanceof ApiError && error.status === 429 && error.message.includes('"reason":"budget_exceeded"'),
    )
    await gateway.finished(2)
  })

  test('shows its key to the gateway alone, in its header or in the query', async (t) => {
    for (const location of [{ header: { name: 'x-goog-api-key' } }, { queryParameter: { name: 'key' } }]) {
      const apiKeyAuthentication = { secretRef: { data: { app: { key: 'client-key' } } }, location }
      const { origin, gateway, post } = await setUp(t, sends(generated), { policies: { apiKeyAuthentication } })
      const traced = gateway.trace()
      const isHeader = location.header !== undefined
      const answer = isHeader
        ? await post(path, asked, { 'x-goog-api-key': 'client-key' })
        : await post(`${path}?key=client-key`, asked)
      assert.equal(answer.status, 200)
      const refused = await post(isHeader ? path : `${path}?key=wrong`, asked, { 'x-goog-api-key': 'wrong' })
      assert.deepEqual([refused.status, JSON.parse(refused.body).error.status], [401, 'UNAUTHENTICATED'])
      await gateway.finished(2)
      const told = JSON.stringify([await traced, gateway.lines, origin.seen])
      assert.ok(!told.includes('client-key'), told)
      assert.equal(origin.seen[0]?.headers['x-goog-api-key'], 'AIzaOfGateway')
      assert.equal(origin.seen[0]?.url, path)
    }
  })

  test('shows a key in the query to nobody, even where no policy reads it', async (t) => {
    const authorization = { rules: [{ deny: 'request.path.startsWith("/v1beta/models/denied")' }] }
    const { origin, gateway, post } = await setUp(t, sends(generated), { policies: { authorization } })
    const traced = gateway.trace()
    assert.equal((await post(`${path}?key=client-key&$alt=json`, asked)).status, 200)
    assert.equal((await post(`/v1beta/models/denied:generateContent?key=client-key`, asked)).status, 403)
    await gateway.finished(2)
    const told = JSON.stringify([await traced, gateway.lines, origin.seen])
    assert.ok(!told.includes('client-key'), told)
  })

  test('keeps the history of a streamed chat with a model of another vendor', async (t) => {
    const chunk = (delta: object, more: object = {}): string =>
      `data: ${JSON.stringify({ id: 'c1', model: 'gpt-4.1', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`
    const { origin, sdk } = await setUp(
      t,
      (_seen, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const end = chunk({}, { finish_reason: 'stop' })
        response.end(`${chunk({ content: 'we' })}${chunk({ content: 'll' })}${end}data: [DONE]\n\n`)
      },
      { provider: { openai: {} } },
    )
    const chat = sdk().chats.create({ model: 'gpt-4.1' })
    for (const message of ['hi', 'again']) {
      let text = ''
      for await (const piece of await chat.sendMessageStream({ message })) text += piece.text ?? ''
      assert.equal(text, 'well')
    }
    assert.deepEqual((JSON.parse(origin.seen[1]?.body ?? '') as { messages: object[] }).messages, [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'well' },
      { role: 'user', content: 'again' },
    ])
  })
})

describe('token counts', () => {
  test('come from Google for a model of Google', async (t) => {
    const { origin, gateway, sdk } = await setUp(t, sends({ totalTokens: 31 }))
    const { totalTokens } = await sdk().models.countTokens({ model: MODEL, contents: 'hi' })
    assert.deepEqual([totalTokens, origin.seen[0]?.url], [31, `/v1beta/models/${MODEL}:countTokens`])
    await gateway.finished(1)
    assert.deepEqual([gateway.records[0]!.llm?.operation, gateway.records[0]!.llm?.countedTokens], ['count_tokens', 31])
  })

  test('have the model that the alias stands for in a whole request', async (t) => {
    const { origin, post } = await setUp(t, sends({ totalTokens: 31 }), { ai: { modelAliases: { fast: MODEL } } })
    const generateContentRequest = { model: 'models/fast', ...asked }
    await post('/v1beta/models/fast:countTokens', { generateContentRequest })
    const renamed = { generateContentRequest: { model: `models/${MODEL}`, ...asked } }
    assert.deepEqual(JSON.parse(origin.seen[0]?.body ?? ''), renamed)
    const other = { generateContentRequest: { ...generateContentRequest, model: 'models/other' } }
    assert.equal((await post('/v1beta/models/fast:countTokens', other)).status, 400)
  })

  test('are counted by the gateway for other models', async (t) => {
    const { origin, sdk } = await setUp(t, sends({}), { provider: { openai: {} } })
    const { totalTokens = 0 } = await sdk().models.countTokens({ model: 'gpt-4.1', contents: 'How many are these?' })
    assert.ok(totalTokens > 3 && totalTokens < 30, String(totalTokens))
    assert.equal(origin.seen.length, 0)
  })
})

describe('embeddings', () => {
  test('pass to Google, with the model that the alias stands for', async (t) => {
    const answer = { embeddings: [{ values: [1, 2] }, { values: [3, 4] }], newMember: 1 }
    const { origin, gateway, sdk } = await setUp(t, sends(answer), {
      ai: { modelAliases: { vec: 'gemini-embedding-001' } },
    })
    const { embeddings } = await sdk().models.embedContent({ model: 'vec', contents: ['a', 'b'] })
    assert.deepEqual(
      embeddings?.map(({ values }) => values),
      [
        [1, 2],
        [3, 4],
      ],
    )
    assert.equal(origin.seen[0]?.url, '/v1beta/models/gemini-embedding-001:batchEmbedContents')
    const { requests } = JSON.parse(origin.seen[0]?.body ?? '') as { requests: { model: string }[] }
    assert.deepEqual(
      requests.map(({ model }) => model),
      ['models/gemini-embedding-001', 'models/gemini-embedding-001'],
    )
    await gateway.finished(1)
    const { llm } = gateway.records[0]!
    assert.deepEqual(
      [llm?.operation, llm?.requestModel, llm?.isEstimated],
      ['embeddings', 'gemini-embedding-001', true],
    )
    assert.ok((llm?.usage.input ?? 0) > 0)
  })

  test('are translated for another vendor', async (t) => {
    const data = [
      { object: 'embedding', index: 0, embedding: [1, 2] },
      { object: 'embedding', index: 1, embedding: [3, 4] },
    ]
    const answer = { object: 'list', data, model: 'e', usage: { prompt_tokens: 5, total_tokens: 5 } }
    const { origin, gateway, sdk } = await setUp(t, sends(answer), { provider: { openai: {} } })
    const config = { outputDimensionality: 2 }
    const { embeddings } = await sdk().models.embedContent({ model: 'e', contents: ['a', 'b'], config })
    assert.deepEqual(
      embeddings?.map(({ values }) => values),
      [
        [1, 2],
        [3, 4],
      ],
    )
    assert.deepEqual(JSON.parse(origin.seen[0]?.body ?? ''), { model: 'e', input: ['a', 'b'], dimensions: 2 })
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.llm?.usage.input, 5)
  })

  test('have the form of one content, and guards see it', async (t) => {
    const promptGuard = { request: [{ regex: { builtins: ['Ssn'], action: 'Mask' } }] }
    const { origin, post } = await setUp(t, sends({ embedding: { values: [1] } }), { ai: { promptGuard } })
    const body = { model: 'models/e', content: { parts: [{ text: 'I am 123-45-6789' }] }, taskType: 'CLUSTERING' }
    const answer = await post('/v1beta/models/e:embedContent', body)
    assert.deepEqual(JSON.parse(answer.body), { embedding: { values: [1] } })
    assert.deepEqual(JSON.parse(origin.seen[0]?.body ?? ''), { ...body, content: { parts: [{ text: 'I am <SSN>' }] } })
    const other = await post('/v1beta/models/e:batchEmbedContents', { requests: [{ ...body, model: 'models/f' }] })
    assert.deepEqual([other.status, JSON.parse(other.body).error.status], [400, 'INVALID_ARGUMENT'])
  })
})

test('a provider without embeddings refuses them in the form of Google', async (t) => {
  const { post } = await setUp(t, sends({}), { provider: { anthropic: {} } })
  const answer = await post('/v1beta/models/claude:embedContent', { content: { parts: [{ text: 'a' }] } })
  assert.deepEqual([answer.status, JSON.parse(answer.body).error.status], [400, 'INVALID_ARGUMENT'])
})

test('a member that another vendor cannot serve is refused by its path', async (t) => {
  const { post, origin } = await setUp(t, sends(completion), { provider: { openai: {} } })
  const answer = await post('/v1beta/models/m:generateContent', { ...asked, generationConfig: { candidateCount: 2 } })
  const { error } = JSON.parse(answer.body) as {
    error: { status: string; details: { fieldViolations: { field: string }[] }[] }
  }
  assert.equal(answer.status, 400)
  assert.equal(error.details[0]?.fieldViolations[0]?.field, 'generationConfig.candidateCount')
  assert.equal(origin.seen.length, 0)
})
