import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { chatRequest } from '../../testing/chat-request.ts'
import type { EncodeTarget } from '../../format.ts'
import type { ChatRequest, JsonObject, Loss, Message, Part, Tool } from '../../middle.ts'
import { UnsupportedField } from '../../middle.ts'
import { encodeRequest } from './encode-request.ts'

const CLAUDE_45 = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const CLAUDE_47 = 'anthropic.claude-opus-4-7'

interface EncodedRequest {
  body: JsonObject
  losses: Loss[]
  toolNames: Map<string, string>
}

function encode(given: Partial<ChatRequest>, target: Partial<EncodeTarget> = {}): EncodedRequest {
  const losses: Loss[] = []
  const toolNames = new Map<string, string>()
  const body = encodeRequest(chatRequest(given), { model: CLAUDE_45, quirks: new Set(), toolNames, ...target }, losses)
  assert.ok(!(body instanceof UnsupportedField), body instanceof UnsupportedField ? body.message : '')
  return { body, losses, toolNames }
}

function refusal(given: Partial<ChatRequest>): UnsupportedField {
  const refused = encodeRequest(chatRequest(given), { model: CLAUDE_45, quirks: new Set(), toolNames: new Map() }, [])
  assert.ok(refused instanceof UnsupportedField)
  return refused
}

const paths = (losses: Loss[]) => losses.map(({ what, path }) => `${what} ${path}`).toSorted()
const user = (...parts: Part[]): Message => ({ role: 'user', parts })
const assistant = (...parts: Part[]): Message => ({ role: 'assistant', parts })
const text = (value: string): Part => ({ type: 'text', text: value })
const cached = (value: string): Part => ({ type: 'text', text: value, cache: { type: 'ephemeral' } })
const call = (id: string, name: string, args = '{}'): Part => ({ type: 'toolCall', id, name, arguments: args })
const result = (id: string, value: string, isError = false): Part => ({
  type: 'toolResult',
  id,
  parts: [{ type: 'text', text: value }],
  isError,
})
const sampling = { maxTokens: 100 }
const point = { cachePoint: { type: 'default' } }

test('a conversation has its instructions apart and takes turns', () => {
  const { body, losses } = encode({
    system: [
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: ' ' },
    ],
    messages: [
      user(text('Hi')),
      user(text('there')),
      assistant(text('Hello'), text('')),
      assistant(),
      user(text('Bye')),
    ],
    sampling: { maxTokens: 100, temperature: 0.5, topP: 0.9, topK: 5, stop: ['END'] },
    stream: true,
  })
  assert.deepEqual(body, {
    system: [{ text: 'Be brief.' }],
    messages: [
      { role: 'user', content: [{ text: 'Hi' }, { text: 'there' }] },
      { role: 'assistant', content: [{ text: 'Hello' }] },
      { role: 'user', content: [{ text: 'Bye' }] },
    ],
    inferenceConfig: { maxTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
    additionalModelRequestFields: { top_k: 5 },
    additionalModelResponseFieldPaths: ['/delta/stop_sequence'],
  })
  assert.deepEqual(losses, [])
})

test('the limit of tokens has a default, which is reported', () => {
  const { body, losses } = encode({})
  assert.deepEqual(body.inferenceConfig, { maxTokens: 4096 })
  assert.deepEqual(losses, [{ what: 'defaulted', path: 'max_tokens', note: '4096' }])
  assert.deepEqual(paths(encode({ format: 'responses' }).losses), ['defaulted max_output_tokens'])
})

test('results follow the calls, before what the user says', () => {
  const { body } = encode({
    sampling,
    tools: [{ name: 'sum', schema: {} }],
    messages: [
      user(text('?')),
      assistant(text('wait'), call('call_1', 'sum', '{"id":12345678901234567890}'), call('call_2', 'sum', '')),
      user(result('call_1', '3')),
      user(text('thanks'), result('call_2', 'no', true)),
    ],
  })
  assert.equal(
    JSON.stringify(body.messages),
    JSON.stringify([
      { role: 'user', content: [{ text: '?' }] },
      {
        role: 'assistant',
        content: [
          { text: 'wait' },
          { toolUse: { toolUseId: 'call_1', name: 'sum', input: { id: 'LARGE' } } },
          { toolUse: { toolUseId: 'call_2', name: 'sum', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'call_1', content: [{ text: '3' }] } },
          { toolResult: { toolUseId: 'call_2', content: [{ text: 'no' }], status: 'error' } },
          { text: 'thanks' },
        ],
      },
    ]).replace('"LARGE"', '12345678901234567890'),
  )
})

test('ids of calls fit into what Bedrock takes, the same for call and result', () => {
  const long = `call_${'x'.repeat(90)}!`
  const { body } = encode({ sampling, messages: [assistant(call(long, 'a')), user(result(long, 'x'))] })
  const [calling, answering] = body.messages as { content: { toolUse?: JsonObject; toolResult?: JsonObject }[] }[]
  const id = calling?.content[0]?.toolUse?.toolUseId
  assert.ok(typeof id === 'string')
  assert.match(id, /^[A-Za-z0-9_-]{1,64}$/)
  assert.equal(answering?.content[0]?.toolResult?.toolUseId, id)
})

test('arguments that are no object become one', () => {
  const { body, losses } = encode({ sampling, messages: [assistant(call('1', 'a', '{oops'))] })
  assert.deepEqual(body.messages, [
    { role: 'assistant', content: [{ toolUse: { toolUseId: '1', name: 'a', input: { INVALID_JSON: '{oops' } } }] },
  ])
  assert.ok(paths(losses).includes('renamed messages[].tool_calls[].function.arguments'))
})

test('tools and their choice are written as AWS documents them', () => {
  const tools: Tool[] = [
    { name: 'mcp.now', description: 'The time', schema: { properties: { zone: { type: 'string' } } }, strict: true },
    { name: 'sum', description: '', schema: { type: 'object' }, cache: { type: 'ephemeral', ttl: '1h' } },
  ]
  const { body, toolNames, losses } = encode({ sampling, tools, toolChoice: { kind: 'tool', name: 'mcp.now' } })
  assert.deepEqual(body.toolConfig, {
    tools: [
      {
        toolSpec: {
          name: 'mcp_now',
          description: 'The time',
          inputSchema: { json: { type: 'object', properties: { zone: { type: 'string' } } } },
        },
      },
      { toolSpec: { name: 'sum', inputSchema: { json: { type: 'object' } } } },
      { cachePoint: { type: 'default', ttl: '1h' } },
    ],
    toolChoice: { tool: { name: 'mcp_now' } },
  })
  assert.deepEqual([...toolNames], [['mcp_now', 'mcp.now']])
  assert.deepEqual(paths(losses), ['dropped tools[].function.strict'])
  const choice = (kind: 'auto' | 'required') => {
    const { toolConfig } = encode({ sampling, tools, toolChoice: { kind } }).body
    return (toolConfig as JsonObject).toolChoice
  }
  assert.deepEqual(choice('auto'), { auto: {} })
  assert.deepEqual(choice('required'), { any: {} })
})

test('strict tools are declared where the model knows them', () => {
  const tools = [{ name: 'a', schema: { type: 'object' }, strict: true }]
  assert.deepEqual(encode({ sampling, tools }, { quirks: new Set(['strictTools']) }).body.toolConfig, {
    tools: [{ toolSpec: { name: 'a', inputSchema: { json: { type: 'object' } }, strict: true } }],
  })
})

test('no tools are declared when none may be called', () => {
  const tools = [{ name: 'a', schema: {} }]
  assert.equal(encode({ sampling, tools, toolChoice: { kind: 'none' } }).body.toolConfig, undefined)
  const messages = [assistant(call('1', 'a')), user(result('1', 'x'))]
  const { body, losses } = encode({ sampling, tools, messages, toolChoice: { kind: 'none' } })
  assert.deepEqual(body.toolConfig, { tools: [{ toolSpec: { name: 'a', inputSchema: { json: { type: 'object' } } } }] })
  assert.deepEqual(paths(losses), ['dropped tool_choice'])
})

test('a history with calls gets a placeholder when tools are gone', () => {
  const { body, losses } = encode({ sampling, messages: [assistant(call('1', 'a')), user(result('1', 'x'))] })
  const { tools } = body.toolConfig as { tools: { toolSpec: { name: string; inputSchema: JsonObject } }[] }
  assert.match(tools[0]?.toolSpec.name ?? '', /dummy_do_not_call/)
  assert.deepEqual(tools[0]?.toolSpec.inputSchema, { json: { type: 'object' } })
  assert.deepEqual(paths(losses), ['defaulted tools'])
})

test('images and documents travel as bytes, or by an address in S3', () => {
  const pdf = { kind: 'data', mediaType: 'application/pdf', data: 'AAEC' } as const
  const { body } = encode({
    sampling,
    messages: [
      user(
        text('Look'),
        { type: 'image', source: { kind: 'data', mediaType: 'image/jpeg', data: 'AAEC' } },
        { type: 'image', source: { kind: 'url', url: 's3://bucket/cat.png' } },
        { type: 'file', source: pdf, name: 'my  report_v2.pdf' },
        { type: 'file', source: pdf, name: 'my report-v2.pdf' },
        { type: 'file', source: { kind: 'data', mediaType: 'application/octet-stream', data: 'AAEC' }, name: 'x.DOCX' },
      ),
    ],
  })
  assert.deepEqual(body.messages, [
    {
      role: 'user',
      content: [
        { text: 'Look' },
        { image: { format: 'jpeg', source: { bytes: 'AAEC' } } },
        { image: { format: 'png', source: { s3Location: { uri: 's3://bucket/cat.png' } } } },
        { document: { format: 'pdf', name: 'my report-v2', source: { bytes: 'AAEC' } } },
        { document: { format: 'pdf', name: 'my report-v2 [2]', source: { bytes: 'AAEC' } } },
        { document: { format: 'docx', name: 'x', source: { bytes: 'AAEC' } } },
      ],
    },
  ])
})

test('a document never stands without a text', () => {
  const source = { kind: 'data', mediaType: 'text/plain', data: 'AAEC' } as const
  const { body, losses } = encode({ sampling, messages: [user({ type: 'file', source })] })
  assert.deepEqual(body.messages, [
    {
      role: 'user',
      content: [{ document: { format: 'txt', name: 'document', source: { bytes: 'AAEC' } } }, { text: 'document' }],
    },
  ])
  assert.deepEqual(paths(losses), ['defaulted messages[].content[]'])
})

test('media that Converse cannot carry is refused by the name of its field', () => {
  const remote: Part = { type: 'image', source: { kind: 'url', url: 'https://example.com/cat.png' } }
  assert.equal(refusal({ messages: [user(remote)] }).field, 'messages[].content[].image_url')
  assert.equal(refusal({ format: 'responses', messages: [user(remote)] }).field, 'input[].content[].image_url')
  const tiff: Part = { type: 'image', source: { kind: 'data', mediaType: 'image/tiff', data: 'AAEC' } }
  assert.match(refusal({ messages: [user(tiff)] }).message, /png, jpeg, gif or webp/)
  const zip: Part = { type: 'file', source: { kind: 'data', mediaType: 'application/zip', data: 'AAEC' } }
  assert.equal(refusal({ messages: [user(zip)] }).field, 'messages[].content[].file')
  assert.equal(
    refusal({ messages: [user({ type: 'file', source: { kind: 'id', id: 'file-1' } })] }).field,
    'messages[].content[].file.file_id',
  )
  assert.equal(
    refusal({ messages: [user({ type: 'audio', format: 'wav', data: 'AAEC' })] }).field,
    'messages[].content[].input_audio',
  )
  const inResult: Part = {
    type: 'toolResult',
    id: '1',
    parts: [{ type: 'image', source: remote.source }],
    isError: false,
  }
  refusal({ messages: [assistant(call('1', 'a')), user(inResult)] })
})

test('reasoning of Claude comes back with its signature, that of others stays away', () => {
  const { body, losses } = encode({
    format: 'messages',
    sampling,
    messages: [
      assistant(
        { type: 'reasoning', text: 'hm', signature: 'anthropic:abc' },
        { type: 'reasoning', text: '', opaque: 'amazon:AAEC' },
        { type: 'reasoning', text: 'other', signature: 'google:xyz' },
        { type: 'reasoning', text: 'unsigned' },
        text('yes'),
      ),
    ],
  })
  assert.deepEqual(body.messages, [
    {
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: 'hm', signature: 'abc' } } },
        { reasoningContent: { redactedContent: 'AAEC' } },
        { text: 'yes' },
      ],
    },
  ])
  assert.deepEqual(paths(losses), ['dropped messages[].content[].thinking'])
})

test('thinking is a budget that leaves room for the answer', () => {
  const { body } = encode({ reasoning: { effort: 'high' } })
  assert.deepEqual(body.inferenceConfig, { maxTokens: 8192 })
  assert.deepEqual(body.additionalModelRequestFields, { thinking: { type: 'enabled', budget_tokens: 4096 } })
  const limited = encode({
    reasoning: { effort: 'max' },
    sampling: { maxTokens: 3000, temperature: 0.2, topP: 0.5, topK: 4 },
  })
  assert.deepEqual(limited.body.inferenceConfig, { maxTokens: 3000 })
  assert.deepEqual(limited.body.additionalModelRequestFields, { thinking: { type: 'enabled', budget_tokens: 2999 } })
  assert.deepEqual(paths(limited.losses), ['dropped temperature', 'dropped top_k', 'dropped top_p'])
})

test('thinking is left out where it would be refused', () => {
  const dropped = (given: Partial<ChatRequest>, model = CLAUDE_45) => {
    const { body, losses } = encode(
      { reasoning: { effort: 'low' }, sampling: { maxTokens: 2000 }, ...given },
      { model },
    )
    assert.equal(body.additionalModelRequestFields, undefined)
    assert.ok(paths(losses).includes('dropped reasoning_effort'))
  }
  dropped({ sampling: { maxTokens: 1024 } })
  dropped({ tools: [{ name: 'a', schema: {} }], toolChoice: { kind: 'required' } })
  dropped({ messages: [assistant(call('1', 'a')), user(result('1', 'x'))] })
  dropped({}, 'anthropic.claude-3-5-sonnet-20241022-v2:0')
  dropped({}, 'meta.llama3-3-70b-instruct-v1:0')
  dropped({}, 'amazon.nova-pro-v1:0')
  assert.deepEqual(encode({ sampling, reasoning: { effort: 'none' } }).losses, [])
})

test('every family thinks in its own words', () => {
  const fields = (reasoning: ChatRequest['reasoning'], model: string) =>
    encode({ reasoning, sampling: { maxTokens: 9000 } }, { model }).body.additionalModelRequestFields
  assert.deepEqual(fields({ effort: 'xhigh' }, CLAUDE_47), {
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
  })
  assert.deepEqual(fields({ effort: 'max' }, 'anthropic.claude-fable-5'), {
    thinking: { type: 'adaptive' },
    output_config: { effort: 'max' },
  })
  assert.deepEqual(fields({ budget: 2000 }, 'anthropic.claude-3-7-sonnet-20250219-v1:0'), {
    thinking: { type: 'enabled', budget_tokens: 2000 },
  })
  assert.deepEqual(fields({ budget: 2000 }, 'anthropic.claude-opus-4-20250514-v1:0'), {
    thinking: { type: 'enabled', budget_tokens: 2000 },
  })
  assert.deepEqual(fields({ effort: 'low' }, 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc'), {
    thinking: { type: 'enabled', budget_tokens: 1024 },
  })
  assert.deepEqual(fields({ effort: 'minimal' }, 'us.amazon.nova-2-lite-v1:0'), {
    reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' },
  })
  assert.deepEqual(fields({ effort: 'medium' }, 'openai.gpt-oss-120b-1:0'), { reasoning_effort: 'medium' })
})

test('the strongest thinking of Nova stands alone', () => {
  const { body, losses } = encode(
    { reasoning: { effort: 'high' }, sampling: { maxTokens: 10, temperature: 0.1 } },
    { model: 'amazon.nova-2-lite-v1:0' },
  )
  assert.equal(body.inferenceConfig, undefined)
  assert.deepEqual(paths(losses), ['dropped max_tokens', 'dropped temperature'])
})

test('thinking settings of a Messages client reach Claude unchanged', () => {
  const thinking = { type: 'enabled', budget_tokens: 5000 }
  const { body } = encode(
    {
      format: 'messages',
      sampling: { maxTokens: 9000 },
      reasoning: { budget: 5000, rest: { thinking, effort: 'low' } },
    },
    { model: CLAUDE_47 },
  )
  assert.deepEqual(body.additionalModelRequestFields, { thinking, output_config: { effort: 'low' } })
})

test('but not when another vendor made the tool calls that await results', () => {
  const thinking = { type: 'enabled', budget_tokens: 5000 }
  const encoded = (...thought: Part[]) =>
    encode({
      format: 'messages',
      messages: [user(text('Hi')), assistant(...thought, call('c1', 'f')), user(result('c1', 'x'))],
      reasoning: { budget: 5000, rest: { thinking, effort: 'low' } },
    })
  const { body, losses } = encoded()
  assert.deepEqual(body.additionalModelRequestFields, { output_config: { effort: 'low' } })
  assert.ok(paths(losses).includes('dropped thinking'))
  const signed = encoded({ type: 'reasoning', text: 'Hm', signature: 'anthropic:E' })
  assert.deepEqual(signed.body.additionalModelRequestFields, { thinking, output_config: { effort: 'low' } })
})

test('marks become cache points behind what they mark', () => {
  const { body } = encode({
    sampling,
    system: [{ type: 'text', text: 's', cache: { type: 'ephemeral' } }],
    messages: [
      user(cached('a')),
      assistant(call('1', 't')),
      user(text('b'), {
        type: 'toolResult',
        id: '1',
        parts: [{ type: 'text', text: 'r', cache: { type: 'ephemeral' } }],
        isError: false,
      }),
    ],
  })
  assert.deepEqual(body.system, [{ text: 's' }, point])
  assert.deepEqual(body.messages, [
    { role: 'user', content: [{ text: 'a' }, point] },
    { role: 'assistant', content: [{ toolUse: { toolUseId: '1', name: 't', input: {} } }] },
    { role: 'user', content: [{ toolResult: { toolUseId: '1', content: [{ text: 'r' }] } }, point, { text: 'b' }] },
  ])
})

test('only four cache points are kept; the earliest in the conversation are dropped', () => {
  const { body, losses } = encode({
    sampling,
    tools: [{ name: 'a', schema: {}, cache: { type: 'ephemeral' } }],
    system: [{ type: 'text', text: 's', cache: { type: 'ephemeral' } }],
    messages: [user(cached('1'), cached('2')), assistant(text('x')), user(cached('3'))],
  })
  assert.deepEqual(body.messages, [
    { role: 'user', content: [{ text: '1' }, { text: '2' }, point] },
    { role: 'assistant', content: [{ text: 'x' }] },
    { role: 'user', content: [{ text: '3' }, point] },
  ])
  assert.deepEqual(paths(losses), ['dropped cache_control'])
})

test('models without a cache get no cache points', () => {
  const { body, losses } = encode(
    { sampling, messages: [user(cached('a'))] },
    { model: 'mistral.mistral-large-2402-v1:0' },
  )
  assert.deepEqual(body.messages, [{ role: 'user', content: [{ text: 'a' }] }])
  assert.deepEqual(paths(losses), ['dropped cache_control'])
})

test('a schema for the answer is written as a text', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
  const { body } = encode({ sampling, output: { kind: 'schema', name: 'answer', description: 'd', schema } })
  assert.deepEqual(body.outputConfig, {
    textFormat: {
      type: 'json_schema',
      structure: { jsonSchema: { schema: JSON.stringify(schema), name: 'answer', description: 'd' } },
    },
  })
  const json = encode({ sampling, output: { kind: 'json' } })
  assert.deepEqual(json.body.system, [{ text: 'Answer with one JSON object and nothing else.' }])
  assert.deepEqual(paths(json.losses), ['renamed response_format'])
})

test('a model that knows no schemas is asked for it in words, behind all other instructions', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const { body, losses } = encode(
    {
      sampling,
      system: [{ type: 'text', text: 'Be brief.' }],
      output: { kind: 'schema', name: 'answer', description: 'Who it is.', schema },
    },
    { model: 'amazon.nova-pro-v1:0', quirks: new Set(['noOutputFormat']) },
  )
  assert.equal(body.outputConfig, undefined)
  const [brief, asked] = body.system as { text: string }[]
  assert.equal(brief?.text, 'Be brief.')
  assert.ok(asked?.text.endsWith(`JSON Schema:\n${JSON.stringify(schema)}\nWho it is.`))
  assert.deepEqual(paths(losses), ['renamed response_format'])
})

test('the configuration of the provider adds to the body', () => {
  const { body } = encode(
    { sampling: { maxTokens: 5, topK: 1 } },
    {
      extra: {
        guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1', trace: 'enabled' },
        additionalModelRequestFields: { anthropic_beta: ['context-1m-2025-08-07'] },
      },
    },
  )
  assert.deepEqual(body.guardrailConfig, { guardrailIdentifier: 'g', guardrailVersion: '1', trace: 'enabled' })
  assert.deepEqual(body.additionalModelRequestFields, { top_k: 1, anthropic_beta: ['context-1m-2025-08-07'] })
})

test('the user is told to Claude, and top_k to Nova in its own place', () => {
  assert.deepEqual(encode({ sampling, user: 'me' }).body.additionalModelRequestFields, { metadata: { user_id: 'me' } })
  const nova = encode({ sampling: { maxTokens: 5, topK: 3 }, user: 'me' }, { model: 'amazon.nova-lite-v1:0' })
  assert.deepEqual(nova.body.additionalModelRequestFields, { inferenceConfig: { topK: 3 } })
  assert.deepEqual(paths(nova.losses), ['dropped user'])
})

test('fields that Converse cannot express are reported or refused', () => {
  const { body, losses } = encode({
    sampling: { maxTokens: 5, seed: 1, frequencyPenalty: 1, presencePenalty: 1, temperature: 1.5 },
    parallelTools: false,
    tools: [{ name: 'a', schema: {} }],
    rest: { logit_bias: {} },
  })
  assert.deepEqual(body.inferenceConfig, { maxTokens: 5, temperature: 1 })
  assert.deepEqual(paths(losses), [
    'dropped frequency_penalty',
    'dropped logit_bias',
    'dropped parallel_tool_calls',
    'dropped presence_penalty',
    'dropped seed',
    'renamed temperature',
  ])
  assert.equal(refusal({ rest: { n: 2 } }).field, 'n')
})

test('any conversation takes turns, says something each time, and pairs calls with results', () => {
  fc.assert(
    fc.property(conversations, (messages) => {
      const { body } = encode({ sampling, messages })
      const made = body.messages as { role: string; content: JsonObject[] }[]
      for (const [at, { role, content }] of made.entries()) {
        assert.ok(content.length > 0)
        assert.notEqual(role, made[at - 1]?.role)
        const firstOther = content.findIndex((block) => block.toolResult === undefined)
        assert.ok(firstOther === -1 || content.slice(firstOther).every((block) => block.toolResult === undefined))
      }
      const blocks = made.flatMap(({ content }) => content)
      assert.equal(blocks.filter((block) => block.toolUse).length, blocks.filter((block) => block.toolResult).length)
    }),
  )
})

test('a conversation of very many parts does not end the stack', () => {
  const parts = Array.from({ length: 300_000 }, () => text('a'))
  const { body } = encode({ sampling, messages: [user(...parts.slice(0, 10)), { role: 'user', parts }] })
  assert.equal((body.messages as { content: JsonObject[] }[])[0]?.content.length, 300_010)
})

const conversations = fc
  .array(
    fc.oneof(
      fc.array(fc.string(), { maxLength: 2 }).map((texts) => [user(...texts.map(text))]),
      fc.nat(3).map((calls) => {
        const ids = Array.from({ length: calls }, (_, at) => `call_${at}`)
        return [
          assistant(text(''), ...ids.map((id) => call(id, `tool ${id}`))),
          ...ids.map((id) => user(text('z'), result(id, ''))),
        ]
      }),
    ),
    { maxLength: 6 },
  )
  .map((groups) => groups.flat())
