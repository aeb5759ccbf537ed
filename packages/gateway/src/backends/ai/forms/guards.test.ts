import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { useOrigin } from '../../../testing/scene.ts'
import { formOf, hashOf, json, sendForm, text, useForms } from './test-form-scene.ts'

const path = '/v1/audio/transcriptions'
const sound = randomBytes(200_000)
const ssn = { regex: { builtins: ['Ssn'], action: 'Mask' } }
const rejecting = { regex: { builtins: ['Ssn'], action: 'Reject' } }

describe('guards of requests', () => {
  const send = (port: number, ...parts: Parameters<typeof formOf>[0][number][]) => sendForm(port, path, formOf(parts))

  test('mask the prompt wherever it stands, and other texts', async (t) => {
    const ai = { promptGuard: { request: [ssn] } }
    const { seen, gateway } = await useForms(t, { answer: json({ text: 'hi' }), backend: { ai } })
    const { status } = await send(
      gateway.port(),
      ['file', sound],
      ['odd', 'also 123-45-6789'],
      ['model', 'm'],
      ['prompt', 'he is 123-45-6789'],
    )
    assert.equal(status, 200)
    assert.deepEqual(seen[0]?.parts, [
      ['file', hashOf(sound), 'a.mp3'],
      ['odd', 'also <SSN>', null],
      ['model', 'm', null],
      ['prompt', 'he is <SSN>', null],
    ])
  })

  test('that can refuse a request refuse sound too, unless the config allows it', async (t) => {
    for (const [allowUnexamined, prompt, expected] of [
      [[], 'hello', 403],
      [['Audio'], 'hello', 200],
      [['Audio'], '123-45-6789', 403],
    ] as const) {
      const ai = { promptGuard: { request: [rejecting], allowUnexamined } }
      const { seen, gateway } = await useForms(t, { answer: json({ text: 'hi' }), backend: { ai } })
      const { status } = await send(gateway.port(), ['model', 'm'], ['file', sound], ['prompt', prompt])
      assert.equal(status, expected)
      assert.equal(seen.length, expected === 200 ? 1 : 0)
    }
  })

  test('hold the form, up to the limit of the config', async (t) => {
    const ai = { promptGuard: { request: [ssn] } }
    const frontend = { http: { maxBufferSize: 100_000 } }
    const { seen, gateway } = await useForms(t, { answer: json({ text: 'hi' }), backend: { ai }, frontend })
    const { status, body } = await send(gateway.port(), ['model', 'm'], ['prompt', 'x'], ['file', sound])
    assert.deepEqual([status, seen.length], [400, 0])
    assert.match(body, /is longer than 100000 bytes, and has to be held/)
  })
})

describe('guards of responses', () => {
  const form = formOf([
    ['model', 'm'],
    ['file', sound],
  ])
  const ai = { promptGuard: { response: [ssn] } }
  const usage = { type: 'duration', seconds: 3 }
  const cases: readonly (readonly [string, string, string, string | number])[] = [
    ['a text', 'text/plain', 'it is 123-45-6789\n', 'it is <SSN>\n'],
    ['a text without a finding', 'text/plain', 'it is\n', 'it is\n'],
    [
      'JSON',
      'application/json',
      JSON.stringify({ text: 'it is 123-45-6789', usage }),
      JSON.stringify({ text: 'it is <SSN>', usage }),
    ],
    [
      'JSON with segments and words',
      'application/json',
      JSON.stringify({
        text: 'it is 123-45-6789',
        segments: [
          { id: 0, text: ' it is', tokens: [1] },
          { id: 1, text: ' 123-45-6789', tokens: [2, 3] },
        ],
        words: [{ word: '123-45-6789' }],
      }),
      JSON.stringify({
        text: 'it is <SSN>',
        segments: [
          { id: 0, text: ' it is', tokens: [] },
          { id: 1, text: ' <SSN>', tokens: [] },
        ],
        words: [],
      }),
    ],
    [
      'JSON whose segments hide a finding from a guard',
      'application/json',
      JSON.stringify({ text: '123-45-6789', segments: [{ text: '123-45' }, { text: '-6789' }] }),
      503,
    ],
    [
      'captions',
      'text/plain',
      '1\n00:00:00,000 --> 00:00:01,000\n123-45-6789\n\n',
      '1\n00:00:00,000 --> 00:00:01,000\n<SSN>\n\n',
    ],
    [
      'captions that hide a finding from a guard',
      'text/vtt',
      'WEBVTT\n\n00:00.000 --> 00:01.000\nSSN 123-45\n\n00:01.000 --> 00:02.000\n-6789\n\n',
      'WEBVTT\n\n00:00.000 --> 00:01.000\nSSN 123-45\n\n00:01.000 --> 00:02.000\n-6789\n\n',
    ],
    ['nothing', 'application/json', '', 502],
    ['no JSON', 'application/json', '<html>', 502],
  ]
  for (const [what, type, sent, expected] of cases) {
    test(`read ${what}`, async (t) => {
      const { gateway } = await useForms(t, { answer: text(sent, type), backend: { ai } })
      const { status, body } = await sendForm(gateway.port(), path, form)
      if (typeof expected === 'number') assert.equal(status, expected, body)
      else assert.deepEqual([status, body], [200, expected])
    })
  }

  const events = (list: readonly object[]) => list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const stream = (...deltas: string[]) => [
    ...deltas.map((delta) => ({ type: 'transcript.text.delta', delta })),
    { type: 'transcript.text.done', text: deltas.join(''), usage: { input_tokens: 4, output_tokens: 5 } },
  ]

  test('read streams, across their events, and the usage is counted', async (t) => {
    const answer = text(events(stream('it is 123', '-45-6789', ' there')), 'text/event-stream')
    const { gateway, line } = await useForms(t, { answer, backend: { ai } })
    const { status, body } = await sendForm(gateway.port(), path, form)
    assert.equal(status, 200)
    assert.ok(!/123|6789/.test(body), body)
    assert.match(body, /"text":"it is <SSN> there"/)
    const fields = await line()
    assert.deepEqual([fields['gen_ai.usage.input_tokens'], fields['gen_ai.usage.output_tokens']], [4, 5])
  })

  test('that reject end in their own response, and the record says so', async (t) => {
    const refusal = JSON.stringify({ action: { body: 'not for you', status_code: 403 } })
    const webhook = await useOrigin(t, (_seen, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(refusal),
    )
    const policy = { promptGuard: { response: [{ webhook: { backendRef: { name: 'webhook' } } }] } }
    for (const answer of [json({ text: 'hello' }), text(events(stream('hello')), 'text/event-stream'), text('hello')]) {
      const backends = [{ name: 'webhook', static: { host: '127.0.0.1', port: webhook.port } }]
      const { gateway } = await useForms(t, { answer, backend: { ai: policy }, backends })
      assert.deepEqual(await sendForm(gateway.port(), path, form), { status: 403, body: 'not for you' })
      await gateway.finished(1)
      assert.equal(gateway.records[0]?.reason, 'PromptGuard')
    }
  })

  test('hold a response up to the limit of the config', async (t) => {
    const frontend = { http: { maxBufferSize: 300_000 } }
    const answer = json({ text: 'x'.repeat(400_000) })
    const { gateway } = await useForms(t, { answer, backend: { ai }, frontend })
    const { status, body } = await sendForm(gateway.port(), path, form)
    assert.deepEqual([status, /larger than 300000 bytes/.test(body)], [502, true])
  })
})
