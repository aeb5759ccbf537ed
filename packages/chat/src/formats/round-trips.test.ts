import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type ChatClient, chatClients } from '../testing/chat-clients.ts'
import { isObject, objectAt, objectsAt, parseExactJson, textAt } from '@portico/http/json'
import type { ChatEvent, FormatName, JsonObject } from '../middle.ts'
import { UnsupportedField } from '../middle.ts'
import { decodeStream, encodeStream, responseContext } from '../testing/exchange.ts'
import { upstreamFormats } from './index.ts'

/** Tool calls from any provider through any client and back: ids, names and arguments are those that the model made. */

interface Call {
  id: string
  name: string
  arguments: JsonObject
}

/**
 * A fake provider of a format: builds a response with tool calls, and reads calls and results from the next request.
 */
interface Upstream {
  answer(calls: readonly Call[]): JsonObject
  calls(body: JsonObject): Call[]
  resultIds(body: JsonObject): string[]
}

const contents = (body: JsonObject): JsonObject[] =>
  objectsAt(body, 'messages').flatMap((message) => objectsAt(message, 'content'))
const parts = (body: JsonObject): JsonObject[] =>
  objectsAt(body, 'contents').flatMap((content) => objectsAt(content, 'parts'))
const textIn = (object: JsonObject, name: string): string => textAt(object, name) ?? ''
const idsIn = (objects: JsonObject[], name: string): string[] =>
  objects.map((object) => textAt(object, name)).filter((id) => id !== undefined)

/** Null for formats without tools. */
const upstreams: Record<FormatName, Upstream | null> = {
  completions: {
    answer: (calls) => ({
      id: 'c1',
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: calls.map(({ id, name, arguments: given }) => ({
              id,
              type: 'function',
              function: { name, arguments: JSON.stringify(given) },
            })),
          },
        },
      ],
    }),
    calls: (body) =>
      objectsAt(body, 'messages')
        .flatMap((message) => objectsAt(message, 'tool_calls'))
        .map((call) => callOf(call, 'id', objectAt(call, 'function'), 'arguments')),
    resultIds: (body) => idsIn(objectsAt(body, 'messages'), 'tool_call_id'),
  },
  messages: {
    answer: (calls) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
    calls: (body) =>
      contents(body)
        .filter(({ type }) => type === 'tool_use')
        .map((block) => callOf(block, 'id', block, 'input')),
    resultIds: (body) => idsIn(contents(body), 'tool_use_id'),
  },
  responses: {
    answer: (calls) => ({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'm',
      output: calls.map(({ id, name, arguments: given }) => ({
        type: 'function_call',
        id: `fc_${id}`,
        status: 'completed',
        call_id: id,
        name,
        arguments: JSON.stringify(given),
      })),
    }),
    calls: (body) =>
      objectsAt(body, 'input')
        .filter(({ type }) => type === 'function_call')
        .map((item) => callOf(item, 'call_id', item, 'arguments')),
    resultIds: (body) =>
      idsIn(
        objectsAt(body, 'input').filter(({ type }) => type === 'function_call_output'),
        'call_id',
      ),
  },
  gemini: {
    answer: (calls) => ({
      candidates: [
        {
          content: {
            role: 'model',
            parts: calls.map(({ id, name, arguments: args }) => ({ functionCall: { id, name, args } })),
          },
          finishReason: 'STOP',
        },
      ],
    }),
    calls: (body) =>
      parts(body)
        .filter(({ functionCall }) => functionCall !== undefined)
        .map((part) => callOf(objectAt(part, 'functionCall'), 'id', objectAt(part, 'functionCall'), 'args')),
    resultIds: (body) =>
      idsIn(
        parts(body).map((part) => objectAt(part, 'functionResponse')),
        'id',
      ),
  },
  converse: {
    answer: (calls) => ({
      output: {
        message: {
          role: 'assistant',
          content: calls.map(({ id, name, arguments: input }) => ({ toolUse: { toolUseId: id, name, input } })),
        },
      },
      stopReason: 'tool_use',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    }),
    calls: (body) =>
      contents(body)
        .filter(({ toolUse }) => toolUse !== undefined)
        .map((block) => callOf(objectAt(block, 'toolUse'), 'toolUseId', objectAt(block, 'toolUse'), 'input')),
    resultIds: (body) =>
      idsIn(
        contents(body).map((block) => objectAt(block, 'toolResult')),
        'toolUseId',
      ),
  },
}

function callOf(identified: JsonObject, idName: string, named: JsonObject, argumentsName: string): Call {
  const given = named[argumentsName]
  const parsed = typeof given === 'string' ? parseExactJson(given) : given
  assert.ok(isObject(parsed), 'the arguments are an object')
  return { id: textIn(identified, idName), name: textIn(named, 'name'), arguments: parsed }
}

const calls: fc.Arbitrary<Call[]> = fc.uniqueArray(
  fc.record({
    id: fc.stringMatching(/^[A-Za-z0-9-]{1,40}$/),
    name: fc.oneof(fc.stringMatching(/^[a-z_]{1,20}$/), fc.string({ minLength: 1, maxLength: 90 })),
    arguments: fc
      .dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
      .map((given) => overTheWire(JSON.parse(JSON.stringify(given)) as JsonObject)),
  }),
  { minLength: 1, maxLength: 4, selector: ({ id }) => id },
)

for (const client of chatClients) {
  for (const [name, upstream] of Object.entries(upstreams) as [FormatName, Upstream | null][]) {
    if (upstream === null) continue
    describe(`${client.format.name} to ${name}`, () => {
      it('keeps ids, names and arguments of any calls, whole and streamed', () => {
        fc.assert(
          fc.property(calls, fc.boolean(), (made, streamed) => {
            const { sent, given } = exchange(client, name, { provider: upstream, made, streamed })
            assert.deepEqual(upstream.calls(sent), given)
            assert.deepEqual(
              upstream.resultIds(sent),
              given.map(({ id }) => id),
            )
          }),
          { numRuns: 60 },
        )
      })

      it('keeps numbers that are larger than a double holds', () => {
        for (const streamed of [false, true]) {
          const made = { id: 'call-1', name: 'f', arguments: overTheWire({ id: 'LARGE' }) }
          const { sent } = exchange(client, name, { provider: upstream, made: [made], streamed })
          assert.match(JSON.stringify(sent), /\{\\?"id\\?":12345678901234567890\}/)
        }
      })
    })
  }
}

/**
 * Runs one exchange: the model calls tools and the client returns results. Returns the provider's next request and the
 * original calls.
 */
function exchange(
  client: ChatClient,
  name: FormatName,
  { provider, made, streamed }: { provider: Upstream; made: readonly Call[]; streamed: boolean },
) {
  const upstream = upstreamFormats[name]
  const { format } = client
  const toolNames = new Map<string, string>()
  const encode = (body: JsonObject): JsonObject => {
    const request = format.decodeRequest(overTheWire(body))
    assert.ok(!(request instanceof UnsupportedField), request instanceof UnsupportedField ? request.message : '')
    const encoded = upstream.encodeRequest(request, { model: 'm', quirks: new Set(['callIds']), toolNames }, [])
    assert.ok(!(encoded instanceof UnsupportedField), encoded instanceof UnsupportedField ? encoded.message : '')
    return overTheWire(encoded)
  }
  const asked = { ...client.ask('Go', ''), tools: [...new Set(made.map((call) => call.name))].flatMap(toolsFor) }
  encode(asked)
  // The model uses the tool names that the request gave it.
  const theirs = new Map([...toolNames].map(([their, own]) => [own, their]))
  const given = made.map((call) => ({ ...call, name: theirs.get(call.name) ?? call.name }))
  const request = format.decodeRequest(overTheWire(asked))
  assert.ok(!(request instanceof UnsupportedField))
  const context = responseContext({ request, toolNames })
  const events = upstream.decodeResponse(overTheWire(provider.answer(given)), context)
  assert.ok(events !== null)
  const answer = format.encodeResponse(streamed ? throughStream(events) : events, context)
  return { sent: encode(client.goOn(asked, overTheWire(answer), 'done')), given }

  function toolsFor(tool: string): JsonObject[] {
    return objectsAt(client.ask('Go', tool), 'tools')
  }

  /** Decodes the stream as a client library of the same format would. */
  function throughStream(events: readonly ChatEvent[]): ChatEvent[] {
    const plain = responseContext({ request: context.request })
    return decodeStream(upstreamFormats[format.name], encodeStream(format, events, context), [], plain)
  }
}

/** Serializes and parses the body; `LARGE` stands for a number that JavaScript would round. */
function overTheWire(body: JsonObject): JsonObject {
  const parsed = parseExactJson(JSON.stringify(body).replaceAll('"LARGE"', '12345678901234567890'))
  assert.ok(isObject(parsed))
  return parsed
}
