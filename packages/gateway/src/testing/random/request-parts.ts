/** Parts of random requests: paths, headers, and messages of every protocol, valid ones first. */

export const BASIC = Buffer.from('alice:secret').toString('base64')
export const PATHS = [
  '',
  '/',
  '/a',
  '/a/b?x=1&x=2&a',
  '/../a',
  '/%2e%2e/b',
  '/a%00b',
  '/é',
  '/a//b',
  '?',
  '/?%zz',
  `/${'a'.repeat(3000)}`,
]
export const TYPES = [
  'text/plain',
  'application/json',
  'application/grpc',
  'multipart/form-data; boundary=x',
  'a/b; c="d',
  '',
]
export const BODIES = [
  '',
  'a body',
  '{"a":{"b":1}}',
  '{"model":"m","messages":[]}',
  '[]',
  'null',
  '\u{0}\u{ff}',
  '{',
  'y'.repeat(90_000),
]
export const HEADERS: [string, string][] = [
  ['x-a', '1'],
  ['x-a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa!'],
  ['x-a', ''],
  ['cookie', 'a=1; b="2; =; c'],
  ['origin', 'https://a.test'],
  ['origin', 'null'],
  ['access-control-request-method', 'POST'],
  ['accept', 'text/event-stream'],
  ['accept-encoding', 'gzip, br'],
  ['expect', '100-continue'],
  ['upgrade', 'websocket'],
  ['x-forwarded-for', '1.2.3.4, unknown, [::1]:80'],
  ['forwarded', 'for="_x";proto=http'],
  ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  ['traceparent', '00-zz'],
  ['range', 'bytes=0-1'],
  ['content-encoding', 'gzip'],
  ['max-forwards', '0'],
  ['x-api-key', 'secret-secret'],
  ['sec-fetch-site', 'cross-site'],
  ['te', 'trailers'],
  ['x-session', 'abc'],
  ['x-portico-hops', '9'],
  ['host', 'a.test'],
]

const USER = { role: 'user', content: 'say 123 secret' }
const TOOL = { type: 'function', function: { name: 'add', parameters: { type: 'object' } } }
export const CHATS: readonly [string, readonly object[]][] = [
  [
    '/v1/chat/completions',
    [
      { model: 'gpt-test', messages: [USER] },
      { model: 'gpt-test', messages: [USER, { role: 'assistant', content: null, tool_calls: [] }], tools: [TOOL] },
      {
        model: 'gpt-test',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'image_url', image_url: { url: 'data:x' } },
            ],
          },
        ],
      },
      { messages: 'none' },
      { model: 7, messages: [null] },
      {},
    ],
  ],
  [
    '/v1/messages',
    [
      { model: 'claude', max_tokens: 10, messages: [USER] },
      {
        model: 'claude',
        max_tokens: 10,
        system: [{ type: 'text', text: 'a' }],
        messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] }],
      },
      {
        model: 'claude',
        max_tokens: 10,
        messages: [{ role: 'user', content: [{ type: 'unheard' }] }],
        thinking: { type: 'enabled', budget_tokens: 5 },
      },
      { model: 'claude', messages: {} },
    ],
  ],
  ['/v1/messages/count_tokens', [{ model: 'claude', messages: [USER] }]],
  [
    '/v1/responses',
    [
      { model: 'gpt-test', input: 'hi' },
      {
        model: 'gpt-test',
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] }],
        tools: [{ type: 'web_search' }],
      },
      {
        model: 'gpt-test',
        input: [{ type: 'function_call_output', call_id: 'x', output: '1' }],
        previous_response_id: 'r',
      },
      { input: 7 },
    ],
  ],
  [
    '/v1/embeddings',
    [{ model: 'e', input: 'a' }, { model: 'e', input: ['a', 'b'] }, { model: 'e', input: [[1, 2]] }, { input: {} }],
  ],
  ['/v1/models', [{}]],
  [
    '/v1beta/models/gemini:generateContent',
    [{ contents: [{ role: 'user', parts: [{ text: 'a' }] }] }, { contents: 'x' }],
  ],
  ['/v1beta/models/gemini:streamGenerateContent?alt=sse', [{ contents: [{ parts: [{ text: 'a' }] }] }]],
  [
    '/model/m/converse',
    [{ messages: [{ role: 'user', content: [{ text: 'a' }] }] }, { messages: [{ content: null }] }],
  ],
  ['/model/m/invoke-with-response-stream', [{ a: 1 }]],
  ['/v1/audio/speech', [{ model: 'm', input: 'a' }]],
  ['/v1/realtime?model=m', [{}]],
]

export const META = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
}
export const CALLS: readonly [string, unknown][] = [
  ['initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } }],
  ['initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } }],
  ['initialize', {}],
  ['initialize', null],
  [
    'initialize',
    { protocolVersion: '2025-06-18', capabilities: { sampling: {} }, clientInfo: { name: 'a', version: '1' } },
  ],
  ['server/discover', {}],
  ['notifications/initialized', undefined],
  ['tools/list', {}],
  ['tools/list', { cursor: 'x' }],
  ['tools/call', { name: 'echo', arguments: {} }],
  ['tools/call', { name: 'one_echo', arguments: { a: 1 } }],
  ['tools/call', { name: 7 }],
  ['tools/call', {}],
  ['prompts/list', undefined],
  ['prompts/get', { name: 'p' }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'demo://x' }],
  ['resources/read', { uri: 'demo://x/../y' }],
  ['resources/subscribe', { uri: 'one+demo://x' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: 'b' } }],
  ['completion/complete', { ref: {} }],
  ['logging/setLevel', { level: 'debug' }],
  ['tasks/get', { taskId: 'x' }],
  ['ping', undefined],
  ['unheard/of', { a: 1 }],
]
