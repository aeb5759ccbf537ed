import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

/** Locations in a request whose text models read, but guards once did not. */

const SECRET = 'project atlantis'
const user = (content: object[]) => ({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content }] })
const result = (content: object[]) => ({
  model: 'm',
  max_tokens: 9,
  messages: [
    { role: 'user', content: 'find it' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'find', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content }] },
  ],
})
const search = { type: 'search_result', title: 'T', source: 'https://s', content: [{ type: 'text', text: SECRET }] }
const textDocument = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: SECRET } }
const asked = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const described = { type: 'object', properties: { a: { type: 'string', description: SECRET } } }
const markdown = Buffer.from(SECRET).toString('base64')

const bodies: Readonly<Record<string, readonly [path: string, provider: string, body: object]>> = {
  'a search_result inside a tool_result': ['/v1/messages', 'anthropic', result([search])],
  'a search_result': ['/v1/messages', 'anthropic', user([search])],
  'a document of text': ['/v1/messages', 'anthropic', user([textDocument])],
  'a document of text inside a tool_result': ['/v1/messages', 'anthropic', result([textDocument])],
  'a document of blocks': [
    '/v1/messages',
    'anthropic',
    user([{ type: 'document', source: { type: 'content', content: [{ type: 'text', text: SECRET }] } }]),
  ],
  'the title of a document': ['/v1/messages', 'anthropic', user([{ ...textDocument, title: SECRET }])],
  'a description of a tool in Messages': [
    '/v1/messages',
    'anthropic',
    { ...asked, max_tokens: 9, tools: [{ name: 'f', description: SECRET, input_schema: { type: 'object' } }] },
  ],
  prediction: ['/v1/chat/completions', 'openai', { ...asked, prediction: { type: 'content', content: SECRET } }],
  'a description of a tool': [
    '/v1/chat/completions',
    'openai',
    { ...asked, tools: [{ type: 'function', function: { name: 'f', description: SECRET, parameters: {} } }] },
  ],
  'a description in a schema': [
    '/v1/chat/completions',
    'openai',
    { ...asked, tools: [{ type: 'function', function: { name: 'f', parameters: described } }] },
  ],
  'a schema of the answer': [
    '/v1/chat/completions',
    'openai',
    { ...asked, response_format: { type: 'json_schema', json_schema: { name: 'n', schema: described } } },
  ],
  'a text file': [
    '/v1/chat/completions',
    'openai',
    {
      ...asked,
      messages: [{ role: 'user', content: [{ type: 'file', file: { filename: 'a.md', file_data: markdown } }] }],
    },
  ],
  'an instruction of another kind': [
    '/v1/chat/completions',
    'openai',
    { ...asked, messages: [{ role: 'system', content: [{ type: 'refusal', refusal: SECRET }] }] },
  ],
  'the name of who speaks': [
    '/v1/chat/completions',
    'openai',
    { ...asked, messages: [{ role: 'user', name: SECRET, content: 'hi' }] },
  ],
  'prompt.variables': [
    '/v1/responses',
    'openai',
    { model: 'gpt-5', input: 'hi', prompt: { id: 'p1', variables: { topic: SECRET } } },
  ],
  'a tool of Responses': [
    '/v1/responses',
    'openai',
    { model: 'gpt-5', input: 'hi', tools: [{ type: 'function', name: 'f', description: SECRET }] },
  ],
  'a member that nobody knows': ['/v1/chat/completions', 'openai', { ...asked, hidden_prompt: { a: [SECRET] } }],
}

async function setUp(t: TestContext, provider: string, promptGuard: object) {
  const origin = await useOrigin(t, (_seen, response) => response.writeHead(400).end('{}'))
  const route = {
    policies: { backend: { ai: { promptGuard }, auth: { key: 'sk' } } },
    backends: [{ ai: { provider: { [provider]: {}, host: '127.0.0.1', port: origin.port } } }],
  }
  const gateway = await useGateway(t, httpConfig([route]))
  const post = (path: string, body: object) =>
    request(gateway.port(), { method: 'POST', path, body: JSON.stringify(body) })
  return { origin, gateway, post }
}

const regex = (action: 'Mask' | 'Reject') => [{ regex: { matches: [SECRET], action } }]

describe('a request guard examines', () => {
  for (const [name, [path, provider, body]] of Object.entries(bodies)) {
    test(name, async (t) => {
      const allowUnexamined = ['Stored']
      const rejecting = await setUp(t, provider, { request: regex('Reject'), allowUnexamined })
      const answer = await rejecting.post(path, body)
      assert.deepEqual([answer.status, rejecting.origin.seen.length], [403, 0], answer.body)
      const masking = await setUp(t, provider, { request: regex('Mask') })
      await masking.post(path, body)
      const sent = masking.origin.seen[0]?.body ?? assert.fail('the provider was not asked')
      assert.ok(!sent.includes(SECRET) && !sent.includes(markdown), sent)
      assert.ok(sent.includes('<masked>') || sent.includes(Buffer.from('<masked>').toString('base64')), sent)
    })
  }

  test('the same for a provider of another format', async (t) => {
    for (const provider of ['openai', 'gemini']) {
      const { origin, post } = await setUp(t, provider, { request: regex('Mask') })
      await post('/v1/messages', result([search, textDocument]))
      const sent = origin.seen[0]?.body ?? assert.fail('the provider was not asked')
      assert.ok(!sent.includes(SECRET), sent)
    }
  })
})

describe('content that no guard can examine', () => {
  const unexaminable: Readonly<Record<string, readonly [path: string, body: object, where: string]>> = {
    Image: [
      '/v1/chat/completions',
      {
        ...asked,
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }] }],
      },
      'messages[0].content[0].image_url',
    ],
    Audio: [
      '/v1/chat/completions',
      {
        ...asked,
        messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } }] }],
      },
      'messages[0].content[0].input_audio',
    ],
    File: [
      '/v1/chat/completions',
      { ...asked, messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
      'messages[0].content[0].file.file_id',
    ],
    Stored: ['/v1/responses', { model: 'gpt-5', input: 'hi', previous_response_id: 'resp_1' }, 'previous_response_id'],
    Unknown: [
      '/v1/responses',
      { model: 'gpt-5', input: [{ role: 'user', content: [{ type: 'input_hologram', text: 'hi' }] }] },
      'input[0].content[0]',
    ],
  }

  for (const [kind, [path, body, where]] of Object.entries(unexaminable)) {
    test(`${kind} is refused, passes where the config says so, and is named in the trace`, async (t) => {
      const rejecting = await setUp(t, 'openai', { request: regex('Reject') })
      const refused = await rejecting.post(path, body)
      assert.equal(refused.status, 403)
      assert.equal(refused.body, `The request was rejected: prompt guards cannot examine ${where} (${kind}).`)
      await rejecting.gateway.finished(1)
      assert.equal(rejecting.gateway.records[0]?.reason, 'PromptGuard')

      const allowing = await setUp(t, 'openai', { request: regex('Reject'), allowUnexamined: [kind] })
      const traced = allowing.gateway.trace()
      await allowing.post(path, body)
      assert.equal(allowing.origin.seen[0]?.body, JSON.stringify(body))
      const told = JSON.stringify(await traced)
      assert.ok(told.includes(`cannot be examined: ${where}`), told)

      const masking = await setUp(t, 'openai', { request: regex('Mask') })
      const { status } = await masking.post(path, body)
      assert.deepEqual([status, masking.origin.seen.length], kind === 'Unknown' ? [403, 0] : [400, 1])
    })
  }
})
