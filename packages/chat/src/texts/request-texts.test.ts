import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../middle.ts'
import { clientFormats } from '../formats/index.ts'
import type { Reading } from './request-texts.ts'

/** Every string of a request is examined, reported, or at a path that a model does not read. */

const base64 = (text: string): string => Buffer.from(text).toString('base64')

const messages: JsonObject = {
  model: 'm',
  max_tokens: 5,
  system: [{ type: 'text', text: 's' }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 't', citations: [{ type: 'char_location', cited_text: 'c', document_title: 'd' }] },
        { type: 'document', title: 'a', context: 'c', source: { type: 'text', media_type: 'text/plain', data: 'd' } },
        { type: 'document', source: { type: 'content', content: 'x' } },
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }] } },
        { type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'x' }] },
        {
          type: 'tool_result',
          tool_use_id: 'c',
          content: [
            { type: 'text', text: 'x' },
            { type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'x' }] },
            { type: 'document', title: 't', source: { type: 'text', media_type: 'text/plain', data: 'd' } },
            { type: 'browser_state', tabs: [{ title: 't', url: 'u' }] },
          ],
        },
        { type: 'mcp_tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'x' }] },
        { type: 'compaction', content: 'x' },
      ],
      unknown: 'x',
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 't', signature: 's' },
        { type: 'redacted_thinking', data: 'd' },
        { type: 'tool_use', id: 'c', name: 'n', input: { a: ['x'] } },
        { type: 'web_fetch_tool_result', tool_use_id: 'c', content: { content: { source: { data: 'x' } } } },
        { type: 'bash_code_execution_tool_result', content: { stdout: 'x', stderr: 'y' } },
      ],
    },
  ],
  tools: [
    {
      name: 'n',
      description: 'd',
      input_schema: { type: 'object', description: 'd', properties: { id: { type: 'string', enum: ['x'] } } },
      input_examples: [{ id: 'x' }],
    },
  ],
  output_config: { format: { type: 'json_schema', schema: { description: 'd' } } },
  unknown: { deep: ['x'] },
}

const completions: JsonObject = {
  model: 'm',
  messages: [
    { role: 'developer', content: [{ type: 'text', text: 's' }] },
    {
      role: 'user',
      name: 'n',
      content: [
        { type: 'text', text: 't' },
        { type: 'file', file: { filename: 'a.md', file_data: base64('x') } },
      ],
    },
    {
      role: 'assistant',
      content: 'c',
      refusal: 'r',
      reasoning_content: 'r',
      reasoning_details: [{ type: 'reasoning.text', text: 'x', data: 'd', signature: 's' }],
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'n', arguments: '{"a":"x"}', extra: 'x' } }],
      function_call: { name: 'n', arguments: '{"a":"x"}' },
    },
    { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'x' }] },
  ],
  prediction: { type: 'content', content: [{ type: 'text', text: 'x' }] },
  tools: [
    { type: 'function', function: { name: 'n', description: 'd', parameters: { description: 'd', default: 'x' } } },
  ],
  functions: [{ name: 'n', description: 'd', parameters: { title: 't' } }],
  response_format: { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema: { title: 't' } } },
  web_search_options: { user_location: { approximate: { city: 'x' } } },
  unknown: 'x',
}

const responses: JsonObject = {
  model: 'm',
  instructions: 'i',
  prompt: { id: 'p', variables: { a: 'x', b: { type: 'input_text', text: 'x' } } },
  input: [
    { role: 'user', content: [{ type: 'input_text', text: 't' }] },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 't', annotations: [{ title: 't' }] }],
    },
    { type: 'function_call', call_id: 'c', name: 'n', arguments: '{"a":"x"}' },
    { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] },
    { type: 'custom_tool_call', call_id: 'c', name: 'n', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'c', output: 'x' },
    { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'x' }], encrypted_content: 'e' },
    { type: 'mcp_call', name: 'n', arguments: 'a', output: 'x', error: 'e' },
    { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'x', stderr: 'y' }] },
    { type: 'web_search_call', id: 'w', action: { type: 'search', query: 'x' } },
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'n', description: 'd' }] },
    { type: 'item_reference', id: 'i' },
  ],
  tools: [{ type: 'mcp', server_label: 'n', server_description: 'd', authorization: 'a', allowed_tools: ['x'] }],
  text: { format: { type: 'json_schema', name: 'n', description: 'd', schema: { title: 't' } } },
  previous_response_id: 'r',
  unknown: 'x',
}

const gemini: JsonObject = {
  model: 'm',
  systemInstruction: { parts: [{ text: 's' }] },
  contents: [
    {
      role: 'user',
      parts: [
        { text: 't' },
        { inlineData: { mimeType: 'text/plain', data: base64('x'), displayName: 'd' } },
        { inline_data: { mime_type: 'image/png', data: 'aGk=' } },
        { fileData: { fileUri: 'gs://a', mimeType: 'application/pdf', displayName: 'd' } },
        { functionResponse: { id: 'c', name: 'n', response: { a: ['x'] }, parts: [{ inlineData: { data: 'x' } }] } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'x' } },
        { newKind: { said: 'x' } },
      ],
      unknown: 'x',
    },
    {
      role: 'model',
      parts: [
        { text: 't', thought: true },
        { text: '', thoughtSignature: 's' },
        { functionCall: { id: 'c', name: 'n', args: { a: ['x'] } }, thoughtSignature: 's' },
        { executableCode: { language: 'PYTHON', code: 'x' } },
        { toolCall: { id: 'c', args: { a: 'x' } } },
        { toolResponse: { response: { a: 'x' } } },
      ],
    },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: 'n', description: 'd', parameters: { type: 'OBJECT', description: 'd' } },
        {
          name: 'n',
          description: 'd',
          parametersJsonSchema: { description: 'd', properties: { id: { enum: ['x'] } } },
        },
      ],
    },
    { googleSearch: { timeRangeFilter: 'a b' } },
  ],
  system_instruction: { parts: { text: 's' } },
  generationConfig: { responseSchema: { title: 't' }, response_json_schema: { title: 't' }, unknown: 'a b' },
  cachedContent: 'cachedContents/x',
  unknown: { deep: ['x'] },
}

/** Ids, names of tools, words of the format, what its maker sealed, and what is reported as it is. */
const notRead =
  /(?:^|\.)(?:type|role|model|name|id|call_id|tool_call_id|tool_use_id|media_type|mimeType|mime_type|language|outcome|signature|thoughtSignature|encrypted_content|authorization|previous_response_id)$|content\[1\]\.data$|details\[0\]\.data$|parts\[2\]\.inline_data\.data$|fileUri$|parts\[0\]\.inlineData\.data$|^cachedContent$/

for (const [name, body] of Object.entries({ messages, completions, responses, gemini })) {
  describe(`a request of ${name}`, () => {
    const reading = clientFormats[name as keyof typeof clientFormats].requestTexts
    test('every string is examined or reported', () => {
      const unseen = leaves(body).filter((path) => !notRead.test(show(path)) && !isSeen(reading, body, path))
      assert.deepEqual(unseen.map(show), [])
    })

    test('a text among ids and words is examined, too', () => {
      const words = leaves(body).filter((path) => /(?:^|\.)(?:type|role|mimeType|language)$/.test(show(path)))
      assert.ok(words.length > 3)
      const unseen = words.filter((path) => !isSeen(reading, body, path))
      assert.deepEqual(unseen.map(show), [])
    })

    test('nothing is changed where nothing is masked', () => {
      const visitor = { text: (text: string) => text, unexamined() {}, broken() {} }
      assert.equal(reading(body, { path: '', role: 'user', visitor }), body)
    })

    test('an object in the place of a text is examined', () => {
      for (const path of leaves(body)) {
        const odd = withLeaf(body, path, { 'a name with blanks': ['MARK it is'] })
        assert.ok(seenIn(reading, odd) || notRead.test(show(path)), show(path))
      }
    })
  })
}

test('bounds of a schema are no text, and stay', () => {
  const schema = { type: 'integer', maximum: 2147483647, description: 'call 214-748-3647' }
  const body = { tools: [{ name: 'n', input_schema: { properties: { 'my 2147483647': schema } } }] }
  const seen: string[] = []
  const visitor = {
    text(text: string) {
      seen.push(text)
      return text.replaceAll('my 2147483647', 'masked').replaceAll('214-748-3647', 'masked')
    },
    unexamined() {},
    broken: assert.fail,
  }
  const after = clientFormats.messages.requestTexts(body, { path: '', role: 'user', visitor })
  assert.ok(!seen.join('').includes(':2147483647'))
  assert.deepEqual(after, {
    tools: [{ name: 'n', input_schema: { properties: { masked: { ...schema, description: 'call masked' } } } }],
  })
})

test('a text file is examined whichever way it is packed, and masked in it', () => {
  const packed = [
    base64('say MARK'),
    `data:text/markdown;base64,${base64('say MARK')}`,
    'data:text/plain;charset=utf-8,say%20MARK',
    `data:application/json;base64,${base64('{"say":"MARK"}')}`,
  ]
  for (const file_data of packed) {
    const body = { messages: [{ role: 'user', content: [{ type: 'file', file: { filename: 'a.md', file_data } }] }] }
    const visitor = { text: (text: string) => text.replace('MARK', '***'), unexamined: assert.fail, broken() {} }
    const after = JSON.stringify(clientFormats.completions.requestTexts(body, { path: '', role: 'user', visitor }))
    const data = /"file_data":"(?:data:[^,]*,)?([^"]*)"/.exec(after)?.[1] ?? ''
    assert.match(Buffer.from(data, 'base64').toString(), /say.*\*\*\*/)
  }
})

type Path = readonly (string | number)[]

function leaves(value: Json, path: Path = []): Path[] {
  if (typeof value === 'string') return [path]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, [...path, index]))
  return Object.entries(value).flatMap(([name, member]) => leaves(member, [...path, name]))
}

function withLeaf(value: Json, [first, ...rest]: Path, leaf: Json): Json {
  if (first === undefined) return leaf
  if (Array.isArray(value)) return value.map((item, index) => (index === first ? withLeaf(item, rest, leaf) : item))
  const object = value as JsonObject
  return { ...object, [first]: withLeaf(object[first as string]!, rest, leaf) }
}

function isSeen(reading: Reading, body: Json, path: Path): boolean {
  const isPacked = path.at(-1) === 'file_data' || show(path).endsWith('parts[1].inlineData.data')
  return seenIn(reading, withLeaf(body, path, isPacked ? base64('MARK it is') : 'MARK it is'))
}

/** Whether a guard sees the mark, or is told that it could not look. */
function seenIn(reading: Reading, body: Json): boolean {
  let isFound = false
  const note = (text: string): string => {
    if (text.includes('MARK')) isFound = true
    return text
  }
  let reported = 0
  const visitor = { text: note, unexamined: () => (reported += 1), broken() {} }
  reading(body, { path: '', role: 'user', visitor })
  // The body itself has something to report.
  return isFound || reported > (baseline.get(reading) ?? 0)
}

const baseline = new Map(
  Object.entries({ messages, completions, responses, gemini }).map(([name, body]) => {
    const reading = clientFormats[name as keyof typeof clientFormats].requestTexts
    let reported = 0
    reading(body, {
      path: '',
      role: 'user',
      visitor: { text: (text) => text, unexamined: () => (reported += 1), broken() {} },
    })
    return [reading, reported]
  }),
)

function show(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1)
}
