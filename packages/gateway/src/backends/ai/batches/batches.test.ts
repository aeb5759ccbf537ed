import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import OpenAI, { APIError } from 'openai'
import { until } from '../../../testing/scene.ts'
import { fileOf, requestLine, useBatches, useBatchProvider } from './test-batch-scene.ts'

/** Tests OpenAI's files and batches through the gateway, with OpenAI's SDK. */

const THREE = [0, 1, 2].map((index) => requestLine(index))

async function refused(call: Promise<unknown>): Promise<APIError> {
  try {
    await call
  } catch (error) {
    assert.ok(error instanceof APIError, String(error))
    return error
  }
  throw new Error('the call was not refused')
}

async function createBatch(sdk: OpenAI, lines: readonly string[]) {
  const file = await sdk.files.create({ file: fileOf(lines), purpose: 'batch' })
  const created = await sdk.batches.create({
    ...{ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' },
  })
  return { file, created, batch: await sdk.batches.retrieve(created.id) }
}

describe('files and batches', () => {
  test('work from upload to results with ids of the gateway', async (t) => {
    const provider = await useBatchProvider(t)
    const { client } = await useBatches(t, { port: provider.port })
    const sdk = client('ann')
    const { file, created, batch } = await createBatch(sdk, THREE)
    assert.equal(provider.files.get('file-up1'), THREE.map((line) => `${line}\n`).join(''))
    assert.match(file.id, /^file-[\w-]{60,}$/)
    assert.equal(created.status, 'validating')
    assert.match(batch.id, /^batch_[\w-]{60,}$/)
    assert.doesNotMatch(JSON.stringify([file, created, batch]), /file-up1|file-out|"batch_2"/)
    const content = await (await sdk.files.content(batch.output_file_id ?? '')).text()
    assert.equal(content.split('\n').length, 4)
    assert.equal((await sdk.files.retrieve(file.id)).id, file.id)
    assert.equal(await (await sdk.files.content(batch.input_file_id)).text(), provider.files.get('file-up1'))
    assert.equal((await sdk.batches.cancel(batch.id)).status, 'cancelling')
    assert.deepEqual(await sdk.files.delete(file.id), { id: file.id, object: 'file', deleted: true })
    assert.deepEqual([...provider.files.keys()], ['file-out2'])
  })

  test('are 404 for other owners, whether they exist or not', async (t) => {
    const provider = await useBatchProvider(t)
    const { client } = await useBatches(t, { port: provider.port })
    const { file, batch } = await createBatch(client('ann'), THREE)
    const calls = provider.calls.length
    for (const other of ['bob', 'eve']) {
      const sdk = client(other)
      for (const call of [
        sdk.files.retrieve(file.id),
        sdk.files.content(batch.output_file_id ?? ''),
        sdk.files.delete(file.id),
        sdk.batches.retrieve(batch.id),
        sdk.batches.cancel(batch.id),
        sdk.batches.create({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' }),
      ]) {
        assert.equal((await refused(call)).status, 404)
      }
    }
    const own = client('ann')
    const forged = `${file.id.slice(0, 60)}${file.id[60] === 'A' ? 'B' : 'A'}${file.id.slice(61)}`
    for (const id of ['file-up1', forged, batch.id, `file-${batch.id.slice(6)}`, 'nothing']) {
      assert.equal((await refused(own.files.retrieve(id))).status, 404, id)
    }
    assert.equal((await refused(own.batches.retrieve(file.id))).status, 404)
    assert.equal(provider.calls.length, calls, 'the provider was not asked')
  })

  test('are those of the team, where a key has one', async (t) => {
    const provider = await useBatchProvider(t)
    const { client } = await useBatches(t, { port: provider.port })
    const { file } = await createBatch(client('ann'), THREE)
    assert.equal((await client('zoe').files.retrieve(file.id)).id, file.id)
  })
})

describe('the requests in a file', () => {
  const uploadOf = async (t: TestContext, lines: readonly string[], scene: object = {}) => {
    const provider = await useBatchProvider(t)
    const { client } = await useBatches(t, { port: provider.port, ...scene })
    const { status, message } = await refused(client('ann').files.create({ file: fileOf(lines), purpose: 'batch' }))
    return { status, message, files: provider.files.size }
  }

  test('are refused with their line', async (t) => {
    const cases: [line: string, expected: RegExp][] = [
      ['{', /file: line 3 must be JSON/],
      [requestLine(2, { model: 'gpt-5' }), /line 3 names the model "gpt-5", and the first line "gpt-4o"/],
      [requestLine(2, {}, { url: '/v1/embeddings' }), /line 3 is for \/v1\/embeddings/],
      [requestLine(2, {}, { method: 'GET' }), /line 3 needs the `method` POST/],
      [requestLine(2, {}, { custom_id: 5 }), /line 3 needs a `custom_id`/],
      [requestLine(2, { model: undefined }), /line 3 names no model/],
    ]
    for (const [line, expected] of cases) {
      const { status, message, files } = await uploadOf(t, [...THREE.slice(0, 2), line])
      assert.match(message, expected)
      assert.deepEqual([status, files], [400, 0])
    }
    for (const [line, expected] of [
      ['[]', /line 1 must be a JSON object/],
      [
        requestLine(0, {}, { url: '/v1/audio/speech' }),
        /line 1 is for \/v1\/audio\/speech, which is no call of a batch here/,
      ],
    ] as const) {
      const { message } = await uploadOf(t, [line])
      assert.match(message, expected)
    }
    assert.match((await uploadOf(t, [])).message, /file has no requests/)
  })

  test('are for models that the client may use', async (t) => {
    const ai = (provider: object) => ({
      models: [
        { name: 'gpt-4o', provider, policies: {}, visibility: 'Public', allow: 'apiKey.name == "bob"' },
        { name: 'house', provider: { ...provider, openai: { model: 'gpt-4.1' } } },
      ],
    })
    assert.equal((await uploadOf(t, THREE, { ai })).status, 403)
    assert.equal((await uploadOf(t, [requestLine(0, { model: 'none' })], { ai })).status, 404)
    const provider = await useBatchProvider(t)
    const { client } = await useBatches(t, { port: provider.port, ai })
    const { batch } = await createBatch(client('ann'), [requestLine(0, { model: 'house' })])
    assert.match(provider.files.get('file-up1') ?? '', /"model":"gpt-4.1"/)
    assert.match(await (await client('ann').files.content(batch.output_file_id ?? '')).text(), /gpt-4.1/)
  })

  test('are examined by guards, and so are their responses', async (t) => {
    const promptGuard = {
      request: [
        { regex: { matches: ['secret'], action: 'Mask' } },
        { regex: { matches: ['forbidden'], action: 'Reject' } },
      ],
      response: [{ regex: { matches: ['secret word'] } }],
    }
    const backend = { ai: { promptGuard } }
    const said = (content: string) => requestLine(2, { messages: [{ role: 'user', content }] })
    const rejected = await uploadOf(t, [...THREE, said('a forbidden word')], { backend })
    assert.deepEqual([rejected.status, rejected.files], [403, 0])
    const provider = await useBatchProvider(t)
    const { client } = await useBatches(t, { port: provider.port, backend })
    const { batch } = await createBatch(client('ann'), [...THREE, said('my secret')])
    assert.doesNotMatch(provider.files.get('file-up1') ?? '', /secret/)
    assert.ok(
      (provider.files.get('file-up1') ?? '').startsWith(`${THREE.join('\n')}\n`),
      'other lines keep their bytes',
    )
    const results = await (await client('ann').files.content(batch.output_file_id ?? '')).text()
    assert.doesNotMatch(results, /secret word/)
    assert.equal(results.split('\n').length, 5)
  })

  test('need the purpose batch', async (t) => {
    const provider = await useBatchProvider(t)
    const { client } = await useBatches(t, { port: provider.port })
    const { status, message } = await refused(client('ann').files.create({ file: fileOf(THREE), purpose: 'user_data' }))
    assert.equal(status, 400)
    assert.match(message, /purpose: must be `batch`/)
    assert.equal(provider.files.size, 0)
  })
})

describe('an upload', () => {
  const head = `--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n`

  async function begin(t: TestContext, scene: object = {}) {
    const provider = await useBatchProvider(t)
    const { gateway } = await useBatches(t, { port: provider.port, ...scene })
    const headers = { authorization: 'Bearer key-of-ann', 'content-type': 'multipart/form-data; boundary=b' }
    const upload = request({ port: gateway.port(), host: '127.0.0.1', method: 'POST', path: '/v1/files', headers })
    upload.on('error', () => {})
    return { provider, gateway, upload }
  }

  test('that the client leaves gives the provider no complete file', async (t) => {
    const { provider, gateway, upload } = await begin(t)
    upload.write(`${head}${THREE.join('\n')}\n`)
    await until(() => provider.calls.length === 1)
    upload.destroy()
    await until(() => provider.broken.length === 1)
    await gateway.finished(1)
    assert.equal(provider.files.size, 0)
  })

  test('is not held, and its end waits for the check of every line', async (t) => {
    const { provider, gateway, upload } = await begin(t)
    const answered = once(upload, 'response') as Promise<[IncomingMessage]>
    upload.write(head)
    for (let index = 0; index < 2_000; index++) {
      if (!upload.write(`${requestLine(index)}\n`)) await once(upload, 'drain')
    }
    upload.end('{"custom_id":"broken"}\r\n--b--\r\n')
    const [response] = await answered
    assert.equal(response.statusCode, 400)
    response.resume()
    await once(response, 'end')
    await gateway.finished(1)
    assert.deepEqual([provider.calls, provider.files.size], [['POST /v1/files'], 0])
  })

  test('that is refused before its provider is known reaches none', async (t) => {
    for (const form of ['--c\r\n', `${head}\n\n\r\n--b--\r\n`, `${head}{}\n\r\n--b--\r\n`, head.slice(0, 60)]) {
      const { provider, upload } = await begin(t)
      const answered = once(upload, 'response') as Promise<[IncomingMessage]>
      upload.end(form)
      const [response] = await answered
      response.resume()
      assert.deepEqual([response.statusCode, provider.calls], [400, []], form)
    }
  })
})

describe('the results of a batch', () => {
  const prices = { models: [{ model: 'gpt-4o', rates: { input: 10, output: 100 } }], table: 'None' }

  test('are charged once, at the price of batches', async (t) => {
    const provider = await useBatchProvider(t)
    const { client, gateway, lines } = await useBatches(t, { port: provider.port, backend: { prices } })
    const sdk = client('ann')
    const { batch } = await createBatch(sdk, THREE)
    for (let turn = 0; turn < 3; turn++) await (await sdk.files.content(batch.output_file_id ?? '')).text()
    await gateway.finished(6)
    // 300 input tokens and 30 output tokens cost 0.006 dollars, and half of that in a batch.
    const costs = lines().map((line) => line['portico.ai.cost_usd'])
    assert.deepEqual(costs.slice(-3), [0.003, 0, 0])
    const line = lines()[3] ?? {}
    assert.deepEqual([line['gen_ai.operation.name'], line['gen_ai.usage.input_tokens']], ['batch', 300])
  })

  test('that a client left in the middle are charged from there', async (t) => {
    const lines = Array.from({ length: 20_000 }, (_, index) => requestLine(index))
    const provider = await useBatchProvider(t)
    const { client, gateway, lines: log } = await useBatches(t, { port: provider.port, backend: { prices } })
    const sdk = client('ann')
    const { batch } = await createBatch(sdk, lines)
    const response = await sdk.files.content(batch.output_file_id ?? '')
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await gateway.finished(4)
    await (await sdk.files.content(batch.output_file_id ?? '')).text()
    await gateway.finished(5)
    const [first = 0, second = 0] = log()
      .slice(-2)
      .map((line) => Number(line['portico.ai.cost_usd']))
    assert.ok(first > 0 && second > 0, `${first} ${second}`)
    assert.equal(Math.round((first + second) * 1e9), 20 * 1e9)
  })

  test('have room in the budget before the batch begins, and spend it afterward', async (t) => {
    const provider = await useBatchProvider(t)
    const budget = { limits: [{ name: 'team', usd: 0.009, per: 'Day' }] }
    const { client, gateway } = await useBatches(t, { port: provider.port, policies: { budget }, backend: { prices } })
    const sdk = client('ann')
    // Three requests may have 150 output tokens, which cost 0.0075 dollars in a batch.
    const { batch } = await createBatch(sdk, THREE)
    const { batch: second } = await createBatch(sdk, THREE)
    await (await sdk.files.content(batch.output_file_id ?? '')).text()
    await gateway.finished(7)
    const { status, message } = await refused(createBatch(sdk, THREE))
    assert.equal(status, 429)
    assert.match(message, /team has \$0\.006 of \$0\.009 left/)
    await (await sdk.files.content(second.output_file_id ?? '')).text()
  })
})
