import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { clientFormats } from '@portico/chat'
import { chainOf } from '../../llm/guards/chain.ts'
import type { Guard } from '../../llm/guards/guard.ts'
import { ResponseGuards } from '../../llm/guards/prompt-guards.ts'
import { createRegexGuard } from '../../llm/guards/regex/guard.ts'
import { cutAt, privateText, somePlaces } from '../../llm/guards/testing/splits.ts'
import { everyCut, responseContext } from '../../../../chat/src/testing/exchange.ts'
import { HeaderBlock } from '@portico/http'
import { NativeStream } from './chat/native-stream.ts'

/** Guards change texts where they stand, and leave every other byte alone. */

type Name = keyof typeof clientFormats
const NAMES: readonly Name[] = ['completions', 'messages', 'responses', 'gemini']

const response = { message: 'no', statusCode: 403 }
const ssn = createRegexGuard({ matches: [], builtins: ['Ssn'], action: 'Mask' }, response)
const never = createRegexGuard({ matches: ['(?i)never said'], builtins: [], action: 'Mask' }, response)
const email = createRegexGuard(
  { matches: [], builtins: ['Email', 'PhoneNumber', 'CreditCard'], action: 'Mask' },
  response,
)
/** Has to be asked, and answers later. */
const asked: Guard = {
  name: 'webhook',
  async check(texts) {
    await Promise.resolve()
    const masked = texts.map((text) => text.replaceAll('123-45-6789', '<SSN>'))
    return masked.join() === texts.join() ? { kind: 'pass' } : { kind: 'mask', texts: masked, found: [] }
  },
}
const refusing: Guard = {
  name: 'webhook',
  check: (texts) =>
    texts.some((text) => text.includes('bad'))
      ? { kind: 'reject', status: 451, body: 'refused', found: [], reason: 'bad' }
      : { kind: 'pass' },
}

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string; [name: string]: unknown }): string => `event: ${value.type}\n${data(value)}`
const chunk = (choices: object[], more: object = {}): string =>
  data({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    system_fingerprint: 'fp_1',
    choices,
    ...more,
  })
const logprobs = (token: string): object => ({ content: [{ token, logprob: -0.5, bytes: [1], top_logprobs: [] }] })
const choice = (index: number, delta: object, more: object = {}): object => ({
  index,
  delta,
  logprobs: null,
  finish_reason: null,
  ...more,
})

/** All that a translation would lose; `say` gives the pieces of each text. */
const rich: Readonly<Record<Name, (say: readonly string[]) => string>> = {
  completions: (say) =>
    [
      ': warming up\n\n',
      chunk([choice(0, { role: 'assistant', content: '' })], { x_vendor: { queue: 'fast lane' } }),
      ...say.flatMap((text) => [
        chunk([choice(0, { reasoning_content: text })]),
        chunk([choice(1, { content: text }, { logprobs: logprobs(text) })]),
      ]),
      ...say.map((content) =>
        chunk([choice(0, { content }, { logprobs: logprobs(content) })], { x_vendor: { queue: 'fast lane' } }),
      ),
      ...say.map((transcript) => chunk([choice(0, { audio: { id: 'a1', data: 'UklGRg==', transcript } })])),
      chunk([choice(0, { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '{"t":"' } }] })]),
      ...say.map((text) =>
        chunk([choice(0, { tool_calls: [{ index: 0, function: { arguments: JSON.stringify(text).slice(1, -1) } }] })]),
      ),
      chunk([choice(0, { tool_calls: [{ index: 0, function: { arguments: '"}' } }] })]),
      chunk([choice(0, {}, { finish_reason: 'tool_calls' }), choice(1, {}, { finish_reason: 'stop' })]),
      chunk([], { usage: { prompt_tokens: 1, completion_tokens: 2, vendor_tokens: 3 } }),
      'data: [DONE]\n\n',
    ].join(''),
  messages: (say) =>
    [
      named({
        type: 'message_start',
        message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1 } },
      }),
      'event: ping\ndata: {"type": "ping"}\n\n',
      named({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      }),
      ...say.map((thinking) =>
        named({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking } }),
      ),
      named({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } }),
      named({ type: 'content_block_stop', index: 0 }),
      named({
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
      }),
      named({
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: '{"query": "' },
      }),
      ...say.map((text) =>
        named({
          type: 'content_block_delta',
          index: 1,
          delta: { type: 'input_json_delta', partial_json: JSON.stringify(text).slice(1, -1) },
        }),
      ),
      named({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '"}' } }),
      named({ type: 'content_block_stop', index: 1 }),
      named({ type: 'content_block_start', index: 2, content_block: { type: 'text', text: '', citations: [] } }),
      ...say.map((text) => named({ type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text } })),
      named({ type: 'content_block_stop', index: 2 }),
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 2, server_tool_use: { web_search_requests: 1 } },
      }),
      named({ type: 'message_stop' }),
    ].join(''),
  responses: (say) => {
    const at = { item_id: 'msg_1', output_index: 1, content_index: 0 }
    const text = say.join('')
    const part = { type: 'output_text', text, annotations: [], logprobs: [{ token: 'x', logprob: -1, bytes: [120] }] }
    const image = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'aW1hZ2U=' }
    const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [part] }
    const answer = { id: 'resp_1', object: 'response', model: 'm', instructions: 'be 987-65-4321', output: [] }
    return [
      named({ type: 'response.created', sequence_number: 0, response: answer }),
      named({ type: 'response.output_item.added', output_index: 0, item: { ...image, result: null } }),
      named({ type: 'response.image_generation_call.in_progress', output_index: 0, item_id: 'ig_1' }),
      named({
        type: 'response.image_generation_call.partial_image',
        output_index: 0,
        item_id: 'ig_1',
        partial_image_index: 0,
        partial_image_b64: 'MTIzLTQ1LTY3ODk=',
      }),
      named({ type: 'response.output_item.done', output_index: 0, item: image }),
      named({ type: 'response.output_item.added', output_index: 1, item: { ...item, content: [] } }),
      named({ type: 'response.content_part.added', ...at, part: { ...part, text: '', logprobs: [] } }),
      ...say.map((delta, index) =>
        named({
          type: 'response.output_text.delta',
          ...at,
          sequence_number: index,
          delta,
          logprobs: [{ token: delta, logprob: -1, top_logprobs: [] }],
          obfuscation: 'xyz',
        }),
      ),
      named({ type: 'response.output_text.done', ...at, text, logprobs: [] }),
      named({ type: 'response.content_part.done', ...at, part }),
      named({ type: 'response.output_item.done', output_index: 1, item }),
      named({
        type: 'response.completed',
        response: { ...answer, output: [image, item], usage: { input_tokens: 1, output_tokens: 2 } },
      }),
    ].join('')
  },
  gemini: (say) => {
    const web = { uri: 'https://a/b', title: say.join('') }
    const segment = { startIndex: 0, endIndex: 4, text: say.join('') }
    return [
      generated([{ text: '' }]),
      ...say.map((text) => generated([{ text, thought: true }])),
      generated([{ executableCode: { language: 'PYTHON', code: say.join('') } }]),
      ...say.map((text) => generated([{ text }])),
      ...say.map((text) => data({ candidates: [{ content: { parts: [{ text }] }, index: 1 }] })),
      generated([{ functionCall: { id: 'f-987654321', name: 'f', args: { t: say.join('') } }, thoughtSignature: 's' }]),
      generated([{ inlineData: { mimeType: 'image/png', data: 'MTIzLTQ1LTY3ODk=' } }]),
      generated([{ text: '' }], {
        finishReason: 'STOP',
        groundingMetadata: { groundingChunks: [{ web }], groundingSupports: [{ segment, groundingChunkIndices: [0] }] },
      }),
    ].join('')
  },
}

const generated = (parts: object[], more: object = {}, beside: object = {}): string =>
  data({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 1, totalTokenCount: 2 },
    modelVersion: 'm',
    responseId: 'r-987-65-4321',
    ...beside,
  })

const PIECES = ['My number is 12', '3-45-', '6789', ', said "Zoë" 😀\n', 'and ', '', 'done']

for (const name of NAMES) {
  describe(`a guarded stream of ${name}`, () => {
    it('is the same to the byte where nothing is found, wherever it is cut', () => {
      const stream = rich[name](['Hello ', 'Zoë', ' 😀 "quoted"\n', '', '42 end'])
      const bytes = Buffer.from(stream)
      for (const cuts of everyCut(bytes.length)) assert.equal(guardedAtOnce(name, [ssn, never], bytes, cuts), stream)
      const returns = stream.replaceAll('\n\n', '\r\n\r\n')
      assert.equal(guardedAtOnce(name, [email], Buffer.from(returns), []), returns)
    })

    it('is the same for a guard that has to be asked', async () => {
      const stream = rich[name](['Hello ', 'Zoë', ' and so on. '.repeat(300), '', '42 end'])
      assert.equal(await guarded(name, [asked, never], Buffer.from(stream), [70, 700, 1_000]), stream)
    })

    it('differs in the masked texts alone', async () => {
      for (const guards of [[ssn], [ssn, never], [asked], [never, asked]]) {
        const given = await guarded(name, guards, Buffer.from(rich[name](PIECES)), [])
        assert.ok(!given.includes('6789') && !given.includes('3-45-'), given)
        const before = recordsOf(rich[name](PIECES))
        const after = recordsOf(given)
        assert.equal(after.length, before.length)
        for (const [index, record] of after.entries()) assertMasked(before[index], record)
        assert.equal(textOf(name, given), 'My number is <SSN>, said "Zoë" 😀\nand done')
      }
    })

    it('says what the guard makes of the whole text, wherever pieces and chunks are cut', async () => {
      await fc.assert(
        fc.asyncProperty(privateText, somePlaces, somePlaces, async (text, places, cuts) => {
          const well = text.toWellFormed()
          const stream = Buffer.from(rich[name](cutAt(well, places)))
          const at = cuts.map((cut) => cut % stream.length).sort((left, right) => left - right)
          const given = await guarded(name, [ssn, email], stream, at)
          const whole = await chainOf([ssn, email], 'response').run(
            [well],
            context([{ role: 'assistant', form: 'text' }]),
          )
          assert.equal(textOf(name, given), whole.verdict.kind === 'mask' ? whole.verdict.texts[0] : well)
        }),
        { numRuns: 100 },
      )
    })

    it('ends with an error where a guard refuses, and nothing of what it refused goes out', async () => {
      const given = await guarded(name, [refusing], Buffer.from(rich[name](['this is ', 'bad, ', 'really'])), [])
      assert.ok(given.includes('refused') && given.startsWith(rich[name]([]).slice(0, 40)), given)
      assert.ok(!given.includes('bad') && !given.includes('really'), given)
    })

    it('ends with an error where a record cannot be read', async () => {
      const stream = rich[name](['fine '])
      const broken = `${stream.slice(0, stream.lastIndexOf('fine'))}\n\n`
      const given = await guarded(name, [ssn], Buffer.from(broken), [])
      assert.match(given, /cannot be read/)
    })
  })

  it(`fixtures of ${name} pass guards as they are, streamed and whole`, async () => {
    const folder = new URL(`../../../../chat/src/formats/${name}/fixtures/`, import.meta.url)
    for (const file of readdirSync(folder)) {
      const text = readFileSync(new URL(file, folder), 'utf8')
      if (file.endsWith('.sse')) assert.equal(await guarded(name, [never], Buffer.from(text), [9, 99]), text, file)
      if (!file.endsWith('.json')) continue
      const { body } = await new ResponseGuards([never]).body({ json: text, texts: clientFormats[name].texts }, ctx)
      assert.deepEqual(body, { kind: 'body', json: text }, file)
    }
  })
}

describe('a whole answer that is guarded', () => {
  it('keeps everything but the masked texts, of every choice', async () => {
    const tokens = '{"content":[{"token":"x","logprob":-1}]}'
    const json = (first: string, second: string, args: string, probs: string) =>
      `{ "id":"c", "system_fingerprint":"fp_123-45-6789", "vendor": {"note":"by ${first}"}, "choices":[\n` +
      `{"index":0,"message":{"role":"assistant","content":"a ${first} b","audio":{"id":"a","data":"QUJD","transcript":"${first}"},` +
      `"tool_calls":[{"id":"call_123456789","type":"function","function":{"name":"f","arguments":"${args}"}}]},"logprobs":${probs}},` +
      `{"index":1,"message":{"role":"assistant","content":"${second}"},"logprobs":${tokens},"finish_reason":"stop"}],"n":1.0e2}`
    const given = json('123-45-6789', 'nothing \\u00e9', '{\\"n\\":123456789}', tokens)
    const { body, notes } = await new ResponseGuards([ssn]).body(
      { json: given, texts: clientFormats.completions.texts },
      ctx,
    )
    const masked = json('<SSN>', 'nothing \\u00e9', '{\\"n\\":\\"<SSN>\\"}', 'null')
    assert.deepEqual(body, { kind: 'body', json: masked })
    assert.deepEqual(notes, [{ index: 0, guard: 'regex', verdict: 'mask', found: ['Ssn'] }])
  })

  it('keeps the input of tools JSON, and what was signed or sealed', async () => {
    const json = (ssnText: string, number: string, signature: string) =>
      `{"type":"message","content":[{"type":"thinking","thinking":"${ssnText}","signature":"${signature}"},` +
      `{"type":"redacted_thinking","data":"123456789"},` +
      `{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"${ssnText}","n":${number},"big":12345678901234567890}},` +
      `{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"https://a/${ssnText}","encrypted_content":"123456789"}]}],` +
      `"usage":{"server_tool_use":{"web_search_requests":1}}}`
    const { body } = await new ResponseGuards([ssn]).body(
      { json: json('123-45-6789', '123456789', 'c2ln'), texts: clientFormats.messages.texts },
      ctx,
    )
    assert.deepEqual(body, { kind: 'body', json: json('<SSN>', '"<SSN>"', '') })
  })

  it('is refused where a mask breaks the JSON of a tool', async () => {
    const breaking: Guard = {
      name: 'webhook',
      check: (texts) => ({ kind: 'mask', texts: texts.map(() => '{'), found: [] }),
    }
    const json = '{"content":[{"type":"tool_use","id":"t","name":"f","input":{"a":1}}]}'
    const { body } = await new ResponseGuards([breaking]).body({ json, texts: clientFormats.messages.texts }, ctx)
    assert.equal(body?.kind === 'reject' && body.status, 503)
  })
})

const ctx = { requestHeaders: new HeaderBlock(), responseHeaders: null }

function context(about: { role: 'assistant'; form: 'text' }[]) {
  return { ...ctx, about }
}

function workOf(name: Name, guards: readonly Guard[]): NativeStream {
  const format = clientFormats[name]
  const encoder = format.createStreamEncoder(responseContext())
  return new NativeStream(
    format.createStreamDecoder(responseContext()),
    { requestedModel: null, observe() {}, ending() {}, over() {} },
    {
      hidesUsage: false,
      awaitsContent: false,
      keepsLastRecord: false,
      endMarks: format.endMarks,
      isEnd: format.isEnd ?? null,
      tellError: (error) => encoder.event({ type: 'error', error }) + encoder.end(),
      redact: (text) => text,
      guard: new ResponseGuards(guards).recordStream(format.texts, ctx),
    },
  )
}

async function guarded(name: Name, guards: readonly Guard[], bytes: Buffer, cuts: readonly number[]): Promise<string> {
  const work = workOf(name, guards)
  const given: Buffer[] = []
  for (const piece of pieces(bytes, cuts)) if (!work.isDone) given.push(...(await work.chunk(piece)))
  if (!work.isDone) given.push(...(await work.end()))
  return Buffer.concat(given).toString()
}

function guardedAtOnce(name: Name, guards: readonly Guard[], bytes: Buffer, cuts: readonly number[]): string {
  const work = workOf(name, guards)
  const given = [...pieces(bytes, cuts).map((piece) => work.chunk(piece)), work.end()]
  return Buffer.concat(given.flatMap((each) => (each instanceof Promise ? assert.fail('waits') : each))).toString()
}

function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...cuts, bytes.length]
  return edges.slice(1).map((edge, at) => bytes.subarray(edges[at], edge))
}

function recordsOf(stream: string): unknown[] {
  return [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => JSON.parse(json!) as unknown)
}

/** The same but for strings; what a mask makes void may be empty. */
function assertMasked(before: unknown, after: unknown): void {
  if (Array.isArray(after) && after.length === 0) return
  if (after === null || typeof after !== 'object' || typeof before !== 'object' || before === null) {
    if (typeof after !== 'string' && after !== null) assert.equal(after, before)
    return
  }
  assert.deepEqual(Object.keys(after), Object.keys(before))
  for (const [member, value] of Object.entries(after)) assertMasked(new Map(Object.entries(before)).get(member), value)
}

function textOf(name: Name, stream: string): string {
  return recordsOf(stream)
    .map((record) => {
      const found =
        name === 'completions'
          ? /"index":0,"delta":\{"content":("(?:[^"\\]|\\.)*")/
          : name === 'messages'
            ? /"text_delta","text":("(?:[^"\\]|\\.)*")/
            : name === 'gemini'
              ? /"candidates":\[\{"content":\{"parts":\[\{"text":("(?:[^"\\]|\\.)*")\}\],"role"/
              : /"delta":("(?:[^"\\]|\\.)*")/
      const [, text = '""'] = found.exec(JSON.stringify(record)) ?? []
      return JSON.parse(text) as string
    })
    .join('')
}
