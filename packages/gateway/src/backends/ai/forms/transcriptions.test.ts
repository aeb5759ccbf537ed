import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { BadRequestError, toFile } from 'openai'
import { request } from '../../../testing/client.ts'
import { httpConfig, useGateway } from '../../../testing/scene.ts'
import { formOf, hashOf, json, sendForm, text, useForms, useProvider } from './test-form-scene.ts'

const sound = randomBytes(100_000)
const hash = hashOf(sound)
const model = 'whisper-1'
const duration = { type: 'duration', seconds: 9 }
const path = '/v1/audio/transcriptions'
const done = json({ text: 'hello', usage: duration })

describe('transcriptions', () => {
  test('reach the SDK of OpenAI with the file as it is, and the log has the seconds', async (t) => {
    const prices = { models: [{ model, units: { second: 0.0001 } }], table: 'None' }
    const { seen, sdk, line } = await useForms(t, { answer: done, backend: { prices } })
    const file = await toFile(sound, 'speech.mp3')
    const result = await sdk.audio.transcriptions.create({ file, model, timestamp_granularities: ['word', 'segment'] })
    assert.equal(result.text, 'hello')
    assert.deepEqual(seen[0]?.parts, [
      ['file', hash, 'speech.mp3'],
      ['model', model, null],
      ['timestamp_granularities[]', 'word', null],
      ['timestamp_granularities[]', 'segment', null],
    ])
    assert.equal(seen[0]?.url, path)
    assert.equal(seen[0]?.headers.authorization, 'Bearer sk-ours')
    const fields = await line()
    assert.deepEqual(
      ['gen_ai.operation.name', 'gen_ai.request.model', 'portico.ai.units', 'portico.ai.cost_usd'].map(
        (name) => fields[name],
      ),
      ['transcription', model, 'seconds:9', 0.0009],
    )
  })

  test('are streamed to the SDK as events, with tokens at their end', async (t) => {
    const usage = {
      type: 'tokens',
      input_tokens: 14,
      input_token_details: { text_tokens: 0, audio_tokens: 14 },
      output_tokens: 45,
      total_tokens: 59,
    }
    const events = [
      { type: 'transcript.text.delta', delta: 'hel' },
      { type: 'transcript.text.delta', delta: 'lo' },
      { type: 'transcript.text.done', text: 'hello', usage },
    ]
    const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    const { sdk, line } = await useForms(t, { answer: text(stream, 'text/event-stream') })
    const file = await toFile(sound, 'speech.mp3')
    const deltas: string[] = []
    for await (const event of await sdk.audio.transcriptions.create({ file, model, stream: true })) {
      if (event.type === 'transcript.text.delta') deltas.push(event.delta)
    }
    assert.deepEqual(deltas, ['hel', 'lo'])
    const fields = await line()
    assert.deepEqual(
      [fields['gen_ai.usage.input_tokens'], fields['gen_ai.usage.output_tokens'], fields['reason']],
      [14, 45, undefined],
    )
    assert.equal(typeof fields['portico.ai.time_to_first_token'], 'string')
  })

  const srt = '1\n00:00:00,000 --> 00:00:07,500\nhello\n\n'
  const vtt = 'WEBVTT\n\n00:00:00.000 --> 00:00:07.500\nhello\n\n'
  const verbose = JSON.stringify({
    task: 'transcribe',
    duration: 7.5,
    text: 'hello',
    segments: [{ id: 0, text: 'hello' }],
  })
  for (const [format, answer, type] of [
    ['srt', srt, 'text/plain; charset=utf-8'],
    ['vtt', vtt, 'text/vtt; charset=utf-8'],
    ['verbose_json', verbose, 'application/json'],
  ] as const) {
    test(`pass as ${format}, and their length is read`, async (t) => {
      const { gateway, line } = await useForms(t, { answer: text(answer, type) })
      const form = formOf([
        ['file', sound],
        ['model', model],
        ['response_format', format],
      ])
      assert.equal((await sendForm(gateway.port(), path, form)).body, answer)
      assert.equal((await line())['portico.ai.units'], 'seconds:7.5')
    })
  }

  test('without usage have an unknown cost, and a budget keeps what it has reserved', async (t) => {
    const prices = { models: [{ model, units: { second: 0.01 } }], table: 'None' }
    const budget = { limits: [{ name: 'team', usd: 1.2, per: 'Day' }] }
    const { gateway } = await useForms(t, { answer: text('hello'), backend: { prices }, policies: { budget } })
    const statuses: number[] = []
    const accept = { accept: 'application/json' }
    const form = formOf([
      ['model', model],
      ['file', sound],
    ])
    // About 50 seconds, at most, for each file of 100 kB.
    for (let count = 1; count <= 3; count++) {
      const { status, body } = await sendForm(gateway.port(), path, form, accept)
      statuses.push(status)
      await gateway.finished(count)
      if (status === 429) assert.match(body, /"code":"budget_exceeded"/)
      else assert.equal(gateway.records[count - 1]?.llm?.cost?.kind, 'unknown')
    }
    assert.deepEqual(statuses, [200, 200, 429])
  })
})

test('translations reach the SDK of OpenAI', async (t) => {
  const { seen, sdk, line } = await useForms(t, { answer: json({ text: 'hello' }) })
  const { text: result } = await sdk.audio.translations.create({ file: await toFile(sound, 'a.wav'), model })
  assert.equal(result, 'hello')
  assert.equal(seen[0]?.url, '/v1/audio/translations')
  assert.equal((await line())['gen_ai.operation.name'], 'translation')
})

describe('fields', () => {
  const ai = {
    modelAliases: { fast: 'gpt-4o-mini-transcribe' },
    overrides: [{ field: 'temperature', value: 0 }],
    defaults: [
      { field: 'language', value: 'en' },
      { field: 'include', value: ['logprobs'] },
    ],
  }
  /** Twice the size that is held, so that fields after the file come while it is under way. */
  for (const size of [10, 200_000]) {
    const file = randomBytes(size)
    const known = ['file', hashOf(file), 'a.mp3']
    test(`are edited wherever they stand, with a file of ${size} bytes`, async (t) => {
      const { seen, gateway } = await useForms(t, { answer: done, backend: { ai } })
      const send = (...parts: Parameters<typeof formOf>[0][number][]) => sendForm(gateway.port(), path, formOf(parts))
      await send(['model', 'fast'], ['file', file], ['language', 'de'], ['temperature', '1'])
      await send(
        ['language', 'de'],
        ['temperature', '1'],
        ['include[]', 'x'],
        ['include[]', 'y'],
        ['model', 'fast'],
        ['file', file],
      )
      const renamed = ['model', 'gpt-4o-mini-transcribe', null]
      assert.deepEqual(
        seen.map(({ parts }) => parts),
        [
          [renamed, known, ['language', 'de', null], ['temperature', '0', null], ['include[]', 'logprobs', null]],
          [
            ['language', 'de', null],
            ['temperature', '0', null],
            ['include[]', 'x', null],
            ['include[]', 'y', null],
            renamed,
            known,
          ],
        ],
      )
      // The length is known as soon as no later field can change it.
      assert.equal(seen[1]?.headers['transfer-encoding'], undefined)
      assert.equal(seen[0]?.headers['transfer-encoding'], size === 10 ? undefined : 'chunked')
    })
  }

  test('have a boundary that the client cannot know, and the length of the body stays', async (t) => {
    const { seen, gateway } = await useForms(t, { answer: done })
    // A parser that accepts bare line feeds would find another model in the file.
    const trap = Buffer.concat([
      Buffer.from('\n------formdata-undici-062047390126\nContent-Disposition: form-data; name="model"\n\nother\n'),
      randomBytes(200_000),
    ])
    const form = formOf([
      ['model', model],
      ['file', trap],
    ])
    assert.equal((await sendForm(gateway.port(), path, form)).status, 200)
    assert.equal(seen[0]?.headers['content-length'], String(form.length))
    assert.ok(!seen[0]?.headers['content-type']?.includes('062047390126'))
    assert.deepEqual(seen[0]?.parts, [
      ['model', model, null],
      ['file', hashOf(trap), 'a.mp3'],
    ])
  })

  const repeated: readonly (readonly [string, [string, string | Buffer][], RegExp])[] = [
    [
      'a model twice',
      [
        ['model', 'a'],
        ['model', 'b'],
      ],
      /model: occurs twice|model occurs twice in the form/,
    ],
    [
      'a model in another spelling',
      [
        ['model', 'a'],
        ['Model', 'b'],
      ],
      /Model must be spelled model/,
    ],
    ['a list of models', [['model[]', 'a']], /model\[\] must be spelled model/],
    ['a model that is a file', [['model', Buffer.from('a')]], /model must be a field of the form, not a file/],
    [
      'two files',
      [
        ['model', 'a'],
        ['file', sound],
        ['file', sound],
      ],
      /file occurs twice in the form/,
    ],
    [
      'a file in another spelling',
      [
        ['model', 'a'],
        ['File', 'x'],
      ],
      /File must be spelled file/,
    ],
    [
      'one name for two lists',
      [
        ['a', '1'],
        ['a[]', '2'],
      ],
      /a\[\] occurs in the form as a too/,
    ],
    ['a charset', [['_charset_', 'utf-16']], /_charset_ is not supported/],
    ['a text that is not UTF-8', [['model', '\u{fffd}']], /must be UTF-8/],
    ['a long text', [['model', 'x'.repeat(300_000)]], /model is longer than 262144 bytes/],
  ]
  for (const [what, parts, message] of repeated) {
    test(`are refused: ${what}`, async (t) => {
      const { seen, gateway } = await useForms(t, { answer: done })
      const form = formOf(parts)
      // The text stands for a byte that is never part of UTF-8.
      const at = form.indexOf('\u{fffd}')
      if (at !== -1) form[at] = 0xff
      const { status, body } = await sendForm(gateway.port(), path, form)
      assert.equal(status, 400)
      const { error } = JSON.parse(body) as { error: { type: string; message: string } }
      assert.match(error.message, message)
      assert.equal(error.type, 'invalid_request_error')
      assert.equal(seen.length, 0)
    })
  }
})

describe('a model after the file', () => {
  test('is found in a file of several MB, which is held until then', async (t) => {
    const { seen, sdk } = await useForms(t, { answer: done })
    const large = randomBytes(5_000_000)
    await sdk.audio.transcriptions.create({ file: await toFile(large, 'a.mp3'), model })
    assert.deepEqual(seen[0]?.parts[0], ['file', hashOf(large), 'a.mp3'])
  })

  test('is refused when more would have to be held than the config allows, and the SDK says what to do', async (t) => {
    const frontend = { http: { maxBufferSize: 100_000 } }
    const { seen, sdk, line } = await useForms(t, { answer: done, frontend })
    const file = await toFile(randomBytes(5_000_000), 'a.mp3')
    await assert.rejects(sdk.audio.transcriptions.create({ file, model }), (thrown) => {
      assert.ok(thrown instanceof BadRequestError)
      assert.match(thrown.message, /model comes after more than 100000 bytes of a file: put it before the file/)
      return true
    })
    assert.equal((await line())['http.status'], 400)
    assert.equal((await sdk.audio.transcriptions.create({ model, file })).text, 'hello')
    assert.equal(seen.length, 1)
  })
})

test('a model of the config chooses the provider, and a key is limited to its models', async (t) => {
  const provider = await useProvider(t, done)
  const at = { host: '127.0.0.1', port: provider.port }
  const models = [
    { name: 'ears', provider: { openai: { model }, ...at } },
    { name: 'chat', provider: { anthropic: {}, ...at } },
  ]
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { models } }] }]))
  const send = (name: string | null) =>
    sendForm(gateway.port(), path, formOf([...(name === null ? [] : [['model', name] as const]), ['file', sound]]))
  assert.equal((await send('ears')).status, 200)
  assert.deepEqual(provider.seen[0]?.parts[0], ['model', model, null])
  const unknown = await send('eras')
  assert.deepEqual([unknown.status, /did you mean `ears`/.test(unknown.body)], [404, true])
  const missing = await send(null)
  assert.deepEqual([missing.status, /names no model/.test(missing.body)], [400, true])
  const other = await send('chat')
  assert.deepEqual([other.status, /anthropic has no calls of this type/.test(other.body)], [400, true])
  assert.equal(provider.seen.length, 1)
})

test('Azure gets the call at the path of its deployment', async (t) => {
  const provider = await useProvider(t, done)
  const azure = { resourceName: 'r', resourceType: 'OpenAI', apiVersion: '2024-10-21' }
  const backends = [{ ai: { provider: { azure, host: '127.0.0.1', port: provider.port } } }]
  const gateway = await useGateway(t, httpConfig([{ policies: { backend: { auth: { key: 'k' } } }, backends }]))
  const own = '/openai/deployments/ears/audio/transcriptions?api-version=2024-10-21'
  await sendForm(
    gateway.port(),
    path,
    formOf([
      ['model', 'ears'],
      ['file', sound],
    ]),
  )
  // Clients of Azure name the deployment in the path.
  await sendForm(gateway.port(), own, formOf([['file', sound]]))
  assert.deepEqual(
    provider.seen.map(({ url }) => url),
    [own, own],
  )
})

test('a body that is no form is refused in the format of the client', async (t) => {
  const { seen, gateway } = await useForms(t, { answer: done })
  const form = formOf([
    ['model', model],
    ['file', sound],
  ]).toString('latin1')
  const post = (headers: Record<string, string>, body = '{}') =>
    request(gateway.port(), { method: 'POST', path, headers, body })
  const type = { 'content-type': 'multipart/form-data; boundary=----formdata-undici-062047390126' }
  const answers = [
    await post({ 'content-type': 'application/json' }),
    await post({ ...type, 'content-encoding': 'gzip' }),
    await post(type),
    await post(type, form.slice(0, -10)),
    await post(type, `${form}more`),
    await request(gateway.port(), { method: 'POST', path, headers: type }),
  ]
  assert.deepEqual(
    answers.map(({ status, body }) => [status, (JSON.parse(body) as { error: { message: string } }).error.message]),
    [
      [400, 'failed to process LLM request: body must be multipart/form-data'],
      [400, 'failed to process LLM request: body must not be compressed'],
      [
        400,
        'failed to process LLM request: body is a form that cannot be read: the form does not begin with its boundary',
      ],
      // The call had begun, as the file is longer than what is held.
      [400, 'body: is a form that cannot be read: the form ends before its last boundary'],
      [400, 'body: is a form that cannot be read: the form goes on after its last boundary'],
      [
        400,
        'failed to process LLM request: body is a form that cannot be read: the form ends before its last boundary',
      ],
    ],
  )
  assert.equal(seen.length, 0)
})

test('curl sends the example of the page', async (t) => {
  const page = readFileSync(new URL('../../../../../../docs/model-endpoints.md', import.meta.url), 'utf8')
  const example = /^curl \S+\/audio\/transcriptions [^]*?(?=\n```)/m.exec(page)?.[0] ?? assert.fail('no example')
  const { seen, gateway } = await useForms(t, { answer: done })
  const directory = mkdtempSync(join(tmpdir(), 'form-'))
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'speech.mp3'), sound)
  const command = example
    .replace(':8080', `:${gateway.port()}`)
    .replace('curl', 'curl -sS --fail-with-body --max-time 30')
  try {
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: directory })
    assert.match(stdout, /"text":"hello"/)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 127) return t.skip('no curl on this machine')
    throw error
  }
  assert.deepEqual(seen[0]?.parts, [
    ['model', model, null],
    ['file', hash, 'speech.mp3'],
  ])
})
