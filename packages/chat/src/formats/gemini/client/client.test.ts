import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import * as fc from 'fast-check'
import { type ChatEvent, type Json, type JsonObject, UnsupportedField } from '../../../middle.ts'
import { passesThrough } from '../../../request/passes-through.ts'
import { collectResponse } from '../../../response/collect-response.ts'
import {
  decodeBuffered,
  decoded,
  decodeStream,
  encoded,
  encodeStream,
  responseContext,
} from '../../../testing/exchange.ts'
import { upstreamFormats } from '../../index.ts'
import { gemini } from '../index.ts'
import { callSignature, fromThoughtSignature, packedReasoning, thoughtSignature } from './signatures.ts'
import { inSnakeCase } from './spelling.ts'

const camel: JsonObject = {
  model: 'm',
  stream: true,
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  contents: [
    {
      role: 'user',
      parts: [
        { text: 'Look:' },
        { inlineData: { mimeType: 'image/jpg', data: 'aGk=' } },
        { inlineData: { mimeType: 'audio/mpeg', data: 'aGk=' } },
        { fileData: { mimeType: 'application/pdf', fileUri: 'https://a/b.pdf', displayName: 'b' } },
      ],
    },
    {
      role: 'model',
      parts: [{ functionCall: { name: 'f', args: { a: 1 } } }, { functionCall: { name: 'f', id: 'x' } }],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'f', response: { output: 'one' } } },
        { functionResponse: { name: 'f', id: 'x', response: { error: { code: 7 } } } },
      ],
    },
  ],
  tools: [{ functionDeclarations: [{ name: 'f', description: 'd' }] }],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
  generationConfig: {
    maxOutputTokens: 9,
    topK: 3,
    stopSequences: ['x'],
    thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 },
    responseMimeType: 'application/json',
  },
}

/** The body with the names of members in snake case, except those that clients choose. */
function snake(value: Json): Json {
  if (Array.isArray(value)) return value.map(snake)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [inSnakeCase(name), snake(inner)]))
}

describe('a request of a Gemini client', () => {
  it('has the same meaning in both spellings', () => {
    const { native: _one, messages, ...request } = decoded(gemini, camel)
    const { native: _other, messages: others, ...same } = decoded(gemini, snake(camel) as JsonObject)
    assert.deepEqual(same, request)
    const parts = messages.map((message) => message.parts)
    assert.deepEqual(
      others.map((message) => message.parts),
      parts,
    )
    assert.deepEqual(parts, [
      [
        { type: 'text', text: 'Look:' },
        { type: 'image', source: { kind: 'data', mediaType: 'image/jpeg', data: 'aGk=' } },
        { type: 'audio', format: 'mp3', data: 'aGk=' },
        { type: 'file', name: 'b', source: { kind: 'url', url: 'https://a/b.pdf', mediaType: 'application/pdf' } },
      ],
      [
        { type: 'toolCall', id: 'call_g1', name: 'f', arguments: '{"a":1}' },
        { type: 'toolCall', id: 'x', name: 'f', arguments: '' },
      ],
      [
        { type: 'toolResult', id: 'call_g1', name: 'f', parts: [{ type: 'text', text: 'one' }], isError: false },
        { type: 'toolResult', id: 'x', name: 'f', parts: [{ type: 'text', text: '{"code":7}' }], isError: true },
      ],
    ])
    const { system, tools, toolChoice, sampling, reasoning, output, stream, rest } = request
    assert.deepEqual(
      { system, tools, toolChoice, sampling, reasoning, output, stream, rest },
      {
        system: [{ type: 'text', text: 'Be brief.' }],
        tools: [{ name: 'f', description: 'd', schema: { type: 'object', properties: {} } }],
        toolChoice: { kind: 'tool', name: 'f' },
        sampling: { maxTokens: 9, topK: 3, stop: ['x'] },
        reasoning: { include: true, budget: 2000 },
        output: { kind: 'json' },
        stream: true,
        rest: {},
      },
    )
  })

  it('may have single objects in place of lists', () => {
    const { messages } = decoded(gemini, { contents: { parts: { text: 'hi' } }, tools: { googleSearch: {} } })
    assert.deepEqual(messages[0]?.parts, [{ type: 'text', text: 'hi' }])
    assert.equal(messages[0].role, 'user')
  })

  it('keeps what nobody knows for Gemini, and reports it for others', () => {
    const parts: JsonObject[] = [
      { text: 'a', newPart: 1 },
      { inlineData: { mimeType: 'image/png', data: 'aGk=', newBlob: 2 } },
    ]
    const body: JsonObject = {
      contents: [{ role: 'user', parts, newContent: 3 }],
      tools: [{ functionDeclarations: [{ name: 'f', newTool: 4 }] }, { codeExecution: {} }],
      generationConfig: { newSetting: 5, thinkingConfig: { newThought: 6 } },
      toolConfig: { newChoice: 7 },
      safetySettings: [{ category: 'c' }],
      newMember: 8,
    }
    const request = decoded(gemini, { model: 'm', ...body })
    assert.deepEqual(encoded(gemini, request), { ...encoded(gemini, request), body, losses: [] })
    const { losses } = encoded(upstreamFormats.completions, request)
    assert.deepEqual(losses.toSorted(), [
      'dropped contents[].newContent',
      'dropped contents[].parts[].newBlob',
      'dropped contents[].parts[].newPart',
      'dropped generationConfig.newSetting',
      'dropped generationConfig.thinkingConfig.newThought',
      'dropped newMember',
      'dropped safetySettings',
      'dropped toolConfig.newChoice',
      'dropped tools',
      'dropped tools[].newTool',
    ])
  })

  it('is refused where a translation would be of another request', () => {
    const cases: Record<string, JsonObject> = {
      cachedContent: { cachedContent: 'cachedContents/x' },
      'generationConfig.candidateCount': { generationConfig: { candidateCount: 2 } },
      'generationConfig.responseModalities': { generationConfig: { responseModalities: ['IMAGE'] } },
      'generationConfig.responseMimeType': { generationConfig: { responseMimeType: 'text/x.enum' } },
      'contents[0].role': { contents: [{ role: 'system', parts: [{ text: 'a' }] }] },
      'contents[0].parts[0].functionResponse.name': { contents: [{ parts: [{ functionResponse: { name: 'f' } }] }] },
      systemInstruction: { systemInstruction: { parts: [{ text: 'a' }] }, system_instruction: { parts: [] } },
    }
    for (const [field, more] of Object.entries(cases)) {
      const request = gemini.decodeRequest({ model: 'm', contents: [{ parts: [{ text: 'hi' }] }], ...more })
      const refused =
        request instanceof UnsupportedField
          ? request
          : upstreamFormats.messages.encodeRequest(request, { model: 'm', quirks: new Set(), toolNames: new Map() }, [])
      assert.ok(refused instanceof UnsupportedField && refused.field === field, `${field}: ${JSON.stringify(refused)}`)
    }
  })

  it('has schemas that other vendors read', () => {
    const parameters = {
      type: 'OBJECT',
      required: ['when'],
      property_ordering: ['when', 'of'],
      properties: {
        when: { type: 'STRING', format: 'date-time', nullable: true, enum: ['a'], min_length: '3' },
        of: { type: 'ARRAY', items: { type: 'INTEGER' }, maxItems: '7', nullable: true },
        either: { anyOf: [{ type: 'NUMBER' }, { type: 'BOOLEAN' }], nullable: true, example: 1 },
      },
    }
    const { tools } = decoded(gemini, { contents: [], tools: [{ functionDeclarations: [{ name: 'f', parameters }] }] })
    assert.deepEqual(tools[0]?.schema, {
      type: 'object',
      required: ['when'],
      properties: {
        when: { type: ['string', 'null'], format: 'date-time', enum: ['a', null], minLength: 3 },
        of: { type: ['array', 'null'], items: { type: 'integer' }, maxItems: 7 },
        either: { anyOf: [{ anyOf: [{ type: 'number' }, { type: 'boolean' }], examples: [1] }, { type: 'null' }] },
      },
    })
  })

  it('joins the pieces of a response that the client keeps', () => {
    const piece = (part: JsonObject): JsonObject => ({ role: 'model', parts: [part] })
    const { messages } = decoded(gemini, {
      contents: [
        ...[
          { text: 'Hm', thought: true },
          { text: 'm.', thought: true },
        ].map(piece),
        piece({ text: '', thoughtSignature: 'c2ln' }),
        ...[{ text: 'we' }, { text: 'll' }, { text: '' }].map(piece),
      ],
    })
    assert.deepEqual(
      messages.map(({ role, parts }) => [role, parts]),
      [
        [
          'assistant',
          [
            { type: 'reasoning', text: 'Hmm.', signature: 'google:c2ln' },
            { type: 'text', text: 'well' },
          ],
        ],
      ],
    )
  })

  it('never throws, whatever its members are', () => {
    const names = [...Object.keys(camel), 'system_instruction', 'parts', 'text', 'functionCall', 'function_response']
    const tree = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom<Json>(null, 1, 'a', true, 'model', []),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(
          fc.constantFrom(...names, 'role', 'inlineData', 'mimeType', 'functionDeclarations'),
          tie('value'),
          {
            maxKeys: 3,
            noNullPrototype: true,
          },
        ),
      ),
    })).value
    const body = fc.dictionary(fc.constantFrom(...names), tree, { noNullPrototype: true })
    fc.assert(
      fc.property(body, (made) => {
        const request = gemini.decodeRequest(made)
        if (request instanceof UnsupportedField) return
        for (const upstream of Object.values(upstreamFormats)) {
          upstream.encodeRequest(request, { model: 'm', quirks: new Set(), toolNames: new Map() }, [])
        }
        const { model: _model, stream: _stream, ...own } = made
        const { body: same } = encoded(gemini, request)
        // Only what was moved differs: lists of one, and names of contents.
        for (const [name, value] of Object.entries(own)) {
          if (!['contents', 'systemInstruction', 'system_instruction'].includes(name))
            assert.deepEqual(same[name], value)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('signatures', () => {
  it('come back as they were, from every vendor', () => {
    const sealed = fc.base64String({ minLength: 4 })
    const maker = fc.constantFrom('openai', 'anthropic', 'amazon', 'google')
    fc.assert(
      fc.property(maker, sealed, fc.option(fc.stringMatching(/^[\w-]{1,9}$/), { nil: undefined }), (by, value, id) => {
        const signature = `${by}:${value}`
        assert.deepEqual(fromThoughtSignature(thoughtSignature(signature)), { signature })
        const packed = fromThoughtSignature(packedReasoning(signature, id))
        assert.deepEqual(packed, { opaque: signature, ...(id !== undefined && { id }) })
        assert.match(thoughtSignature(signature), /^[A-Za-z0-9+/]*=*$/)
      }),
    )
  })

  it('reach Gemini only if Google made them', () => {
    const foreign = thoughtSignature('anthropic:x')
    const parts: JsonObject[] = [
      { text: 'Hm', thought: true, thoughtSignature: foreign },
      { text: 'a', thought_signature: foreign },
      { functionCall: { name: 'f' }, thoughtSignature: callSignature({}) },
      { functionCall: { name: 'g' }, thoughtSignature: 'Z29vZ2xl' },
    ]
    const request = decoded(gemini, { model: 'gemini-3-pro', contents: [{ role: 'model', parts }] })
    assert.ok(!passesThrough(request, new Set()))
    const contents = (model: string): Json | undefined => encoded(gemini, { ...request, model }).body.contents
    const calls = [parts[3]!]
    const placeholder = { functionCall: { name: 'f' }, thoughtSignature: 'skip_thought_signature_validator' }
    assert.deepEqual(contents('gemini-3-pro'), [{ role: 'model', parts: [{ text: 'a' }, placeholder, ...calls] }])
    const bare = { functionCall: { name: 'f' } }
    assert.deepEqual(contents('gemini-2.5-pro'), [{ role: 'model', parts: [{ text: 'a' }, bare, ...calls] }])
    const own = decoded(gemini, { contents: [{ role: 'model', parts: calls }] })
    assert.ok(passesThrough(own, new Set()))
  })
})

const text = fc.string({ minLength: 1, maxLength: 8 })
const part = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), pieces: fc.array(text, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant('reasoning' as const), pieces: fc.array(text, { minLength: 1, maxLength: 3 }) }),
  fc.record({
    kind: fc.constant('toolCall' as const),
    pieces: fc.dictionary(text, fc.integer()).map((args) => [JSON.stringify(args)]),
  }),
)

/** Parts whose neighbours differ: neighbouring texts are one text in this format. */
const response = fc.array(part, { maxLength: 5 }).map((parts) => {
  const kept = parts.filter(({ kind }, index) => kind === 'toolCall' || parts[index - 1]?.kind !== kind)
  const events: ChatEvent[] = [{ type: 'start', id: 'r', model: 'm' }]
  for (const [index, { kind, pieces }] of kept.entries()) {
    const started = kind === 'toolCall' ? { type: kind, id: `c${index}`, name: 'f' } : { type: kind }
    events.push({ type: 'partStart', index, part: started })
    for (const piece of pieces) events.push({ type: 'partDelta', index, text: piece })
    events.push({ type: 'partEnd', index, ...(kind === 'reasoning' && { signature: 'google:c2ln' }) })
  }
  const reason = kept.some(({ kind }) => kind === 'toolCall') ? 'toolCalls' : 'stop'
  events.push({ type: 'finish', reason }, { type: 'usage', usage: { input: 9, output: 5, reasoning: 2, cacheRead: 3 } })
  return events
})

describe('a response for Gemini clients', () => {
  it('is the same whole and streamed, and says what the provider said', () => {
    const context = responseContext({ request: { ...responseContext().request, reasoning: {} } })
    fc.assert(
      fc.property(response, (events) => {
        const whole = decodeBuffered(gemini, gemini.encodeResponse(events, context), context)
        const streamed = collectResponse(decodeStream(gemini, encodeStream(gemini, events, context), [5, 77], context))
        assert.deepEqual(streamed, whole)
        const said = collectResponse(events)
        const unmarked = whole.parts.map((each) => {
          if (each.type !== 'toolCall') return each
          const { signature: _marked, ...call } = each
          return { ...call, arguments: JSON.stringify(JSON.parse(call.arguments)) }
        })
        assert.deepEqual(unmarked, said.parts)
        assert.deepEqual(whole.finish, said.finish)
        assert.deepEqual(whole.usage, { ...said.usage, providerInput: 9, providerTotal: 14 })
      }),
      { numRuns: 300 },
    )
  })

  it('has a part in every record, one id, and the usage in the last record', () => {
    const events: ChatEvent[] = [
      { type: 'start', id: '', model: '' },
      { type: 'partStart', index: 0, part: { type: 'text' } },
      { type: 'partDelta', index: 0, text: 'a' },
      { type: 'partEnd', index: 0 },
      { type: 'finish', reason: 'length' },
      { type: 'usage', usage: { output: 1 } },
    ]
    const records = [...encodeStream(gemini, events).matchAll(/^data: (.*)$/gm)].map(
      ([, json]) => JSON.parse(json!) as JsonObject,
    )
    const head = { modelVersion: 'asked-for', responseId: 'gemini-1' }
    assert.deepEqual(records, [
      { candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] }, index: 0 }], ...head },
      {
        candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'MAX_TOKENS', index: 0 }],
        usageMetadata: { candidatesTokenCount: 1, totalTokenCount: 1 },
        ...head,
      },
    ])
  })

  it('names sources in bytes, as Google does', () => {
    const annotation = { type: 'url_citation', url: 'https://a', title: 'A', start_index: 1, end_index: 3 }
    const events: ChatEvent[] = [
      { type: 'start', id: 'r', model: 'm' },
      { type: 'partStart', index: 0, part: { type: 'text' } },
      { type: 'partDelta', index: 0, text: 'ä€b' },
      { type: 'partEnd', index: 0, rest: { annotations: [annotation] } },
      { type: 'finish', reason: 'stop' },
    ]
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 2, endIndex: 6, text: '€b' }, groundingChunkIndices: [0] }],
    }
    assert.match(
      encodeStream(gemini, events),
      new RegExp(JSON.stringify(groundingMetadata).replaceAll(/[[\]{}.]/g, '\\$&')),
    )
    const body = gemini.encodeResponse(events, responseContext())
    const [only] = decodeBuffered(gemini, body).parts
    const citation = { url: 'https://a', title: 'A', start_index: 1, end_index: 3 }
    assert.deepEqual(only?.type === 'text' && only.rest, {
      annotations: [{ type: 'url_citation', url_citation: citation }],
    })
  })

  it('that breaks off ends with an error of Google', () => {
    const broken = encodeStream(gemini, [{ type: 'start', id: 'r', model: 'm' }])
    assert.match(broken, /^data: \{"error":\{"code":502,"message":"the answer ended too early","status":"INTERNAL"/)
  })
})

test('errors have a status of Google, and details for what only others name', () => {
  const field = gemini.encodeError({ status: 400, kind: 'invalid', message: 'm', param: 'contents' })
  const details = [
    {
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [{ field: 'contents', description: 'm' }],
    },
  ]
  assert.deepEqual(field, {
    status: 400,
    body: { error: { code: 400, message: 'm', status: 'INVALID_ARGUMENT', details } },
  })
  const own = gemini.encodeError({ status: 429, kind: 'rateLimit', message: 'm', code: 'RESOURCE_EXHAUSTED' })
  assert.deepEqual(own.body, { error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED' } })
})
