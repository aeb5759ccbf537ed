import { denied, NO, ok, option, useAuthorizer } from '../../testing/services/authorizer.ts'
import { request } from '../../testing/client.ts'
import { useLimitServer } from '../../testing/services/limit-server.ts'
import { McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { mcpConfig } from '../../testing/mcp/mcp-scene.ts'
import { useMcpServer } from '../../testing/mcp/mcp-server.ts'
import { agree, answerTo, headers, immediate, useAnsweringProcessor } from '../../testing/services/processor.ts'
import { closedPort, httpConfig, routeTo, useOrigin } from '../../testing/scene.ts'
import type { RefusalCase } from './refusal-case.ts'

const get: RefusalCase['send'] = ({ port }) => request(port)
const chat = { model: 'small', messages: [{ role: 'user', content: 'call me at ann@example.com' }] }
const answer = {
  id: '1',
  object: 'chat.completion',
  created: 1,
  model: 'small',
  choices: [{ index: 0, message: { role: 'assistant', content: 'the word is sesame' }, finish_reason: 'stop' }],
}
const post: RefusalCase['send'] = ({ port }) =>
  request(port, { method: 'POST', path: '/v1/chat/completions', body: JSON.stringify(chat) })

/** A route to a model whose response contains a secret word. */
function guarded(promptGuard: object): RefusalCase['config'] {
  return async ({ t }) => {
    const model = await useOrigin(t, (_asked, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answer))
    })
    const ai = { provider: { openai: {}, host: '127.0.0.1', port: model.port } }
    return httpConfig([{ policies: { backend: { ai: { promptGuard } } }, backends: [{ ai }] }])
  }
}

export const serviceCases: RefusalCase[] = [
  {
    name: 'an authorizer that says no',
    config: async ({ t, origin }) => {
      const { host } = await useAuthorizer(t, () => NO)
      return httpConfig([routeTo(origin, { extAuth: { backendRef: { host } } })])
    },
    send: get,
    code: 'authorizer_denied',
    at: 'backendRef',
    passes: 'the authorizer allows the request.',
    values: { status: 403 },
  },
  {
    name: 'an authorizer with an answer of its own',
    config: async ({ t, origin }) => {
      const { host } = await useAuthorizer(t, () => denied({ status: { code: 451 }, body: 'not here' }))
      return httpConfig([routeTo(origin, { extAuth: { backendRef: { host } } })])
    },
    send: get,
    code: 'authorizer_denied',
    at: 'backendRef',
    passes: 'the authorizer allows the request.',
    values: { status: 451 },
  },
  {
    name: 'an authorizer that is not there',
    config: async ({ origin }) =>
      httpConfig([routeTo(origin, { extAuth: { backendRef: { host: `127.0.0.1:${await closedPort()}` } } })]),
    send: get,
    code: 'authorizer_failed',
    at: 'backendRef',
    passes: 'the authorizer responds.',
    alsoPass: ['`failureMode` is FailOpen.'],
    values: { failureMode: 'FailClosed' },
  },
  {
    name: 'an authorizer that sets a header to a value that cannot stand',
    config: async ({ t, origin }) => {
      const { host } = await useAuthorizer(t, () => ok({ headers: [option('x-user', 'ann\r\nx-admin: 1')] }))
      return httpConfig([routeTo(origin, { extAuth: { backendRef: { host } } })])
    },
    send: get,
    code: 'authorizer_invalid_header',
    at: 'backendRef',
    passes: 'the authorizer sets x-user to a value without line breaks or control characters.',
    values: { header: 'x-user' },
    says: /^the authorizer set the header x-user to an invalid value$/,
    hides: ['x-admin'],
  },
  {
    name: 'a rate limit service that sets a header to a value that cannot stand',
    config: async ({ t, origin }) => {
      const requestHeadersToAdd = [{ key: 'x-user', value: 'ann\r\nx-admin: 1', rawValue: new Uint8Array() }]
      const { host } = await useLimitServer(t, () => ({ overallCode: 1, requestHeadersToAdd }))
      const descriptors = [{ entries: [{ name: 'all', expression: '"1"' }] }]
      return httpConfig([
        routeTo(origin, { rateLimit: { global: { backendRef: { host }, domain: 'shop', descriptors } } }),
      ])
    },
    send: get,
    code: 'limit_service_invalid_header',
    at: 'backendRef',
    passes: 'the service sets x-user to a value without line breaks or control characters.',
    values: { header: 'x-user' },
    says: /^the rate limit service set the header x-user /,
    hides: ['x-admin'],
  },
  {
    name: 'a processor that sets a header to a value that cannot stand',
    config: async ({ t, origin }) => {
      const { host } = await useAnsweringProcessor(t, (said) =>
        said.request?.$case === 'requestHeaders'
          ? answerTo('requestHeaders', headers({ 'x-user': 'ann\r\nx-admin: 1' }))
          : agree(said),
      )
      return httpConfig([routeTo(origin, { extProc: { backendRef: { host } } })])
    },
    send: get,
    code: 'processor_failed',
    at: 'backendRef',
    passes: 'the processor responds without an error.',
    alsoPass: ['`failureMode` is FailOpen.'],
    says: /^the external processor failed: .*x-user/,
    hides: ['x-admin'],
  },
  {
    name: 'a processor that answers itself',
    config: async ({ t, origin }) => {
      const { host } = await useAnsweringProcessor(t, () => immediate(418, 'teapot'))
      return httpConfig([routeTo(origin, { extProc: { backendRef: { host } } })])
    },
    send: get,
    code: 'processor_answered',
    at: 'backendRef',
    passes: 'the processor lets the request continue.',
    values: { status: 418 },
  },
  {
    name: 'a processor that is not there',
    config: async ({ origin }) =>
      httpConfig([routeTo(origin, { extProc: { backendRef: { host: `127.0.0.1:${await closedPort()}` } } })]),
    send: get,
    code: 'processor_failed',
    at: 'backendRef',
    passes: 'the processor responds without an error.',
    alsoPass: ['`failureMode` is FailOpen.'],
  },
  {
    name: 'a guard of requests',
    config: guarded({
      request: [
        { regex: { builtins: ['Ssn'], action: 'Reject' } },
        { regex: { builtins: ['Email'], action: 'Reject' } },
      ],
    }),
    send: post,
    code: 'request_guard_reject',
    at: 'regex:',
    passes: 'the request contains no Email.',
    alsoPass: ['the guard allows this text.'],
    values: { guard: 'regex', phase: 'request', found: ['Email'], model: 'small' },
    hides: ['ann@example.com'],
  },
  {
    name: 'a request guard whose call fails',
    config: async (scene) => ({
      ...(await guarded({ request: [{ webhook: { backendRef: { name: 'judge' } } }] })(scene)),
      backends: [{ name: 'judge', static: { host: '127.0.0.1', port: await closedPort() } }],
    }),
    send: post,
    code: 'request_guard_failed',
    at: 'webhook:',
    passes: 'the service of the webhook guard responds.',
    alsoPass: ['`failureMode` is FailOpen.'],
    hides: ['ann@example.com'],
  },
  {
    name: 'a guard of a vendor whose call fails',
    config: async (scene) => ({
      ...(await guarded({ request: [{ presidio: { backendRef: { name: 'analyzer' } } }] })(scene)),
      backends: [{ name: 'analyzer', static: { host: '127.0.0.1', port: await closedPort() } }],
    }),
    send: post,
    code: 'request_guard_failed',
    at: 'presidio:',
    passes: 'the service of the presidio guard responds.',
    alsoPass: ['`failureMode` is FailOpen.'],
    hides: ['ann@example.com'],
  },
  {
    name: 'a guard of answers',
    async config(scene) {
      const judge = await useOrigin(scene.t, (_asked, response) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ action: { body: 'no way', status_code: 451 } }))
      })
      return {
        ...(await guarded({ response: [{ webhook: { backendRef: { name: 'judge' } } }] })(scene)),
        backends: [{ name: 'judge', static: { host: '127.0.0.1', port: judge.port } }],
      }
    },
    send: post,
    code: 'response_guard_reject',
    at: 'webhook:',
    passes: 'the response contains no text that the guard rejects.',
    alsoPass: ['the guard allows this text.'],
    values: { guard: 'webhook', phase: 'response', model: 'small' },
    hides: ['sesame', 'ann@example.com'],
  },
  {
    name: 'a response guard whose call fails',
    config: async (scene) => ({
      ...(await guarded({ response: [{ webhook: { backendRef: { name: 'judge' } } }] })(scene)),
      backends: [{ name: 'judge', static: { host: '127.0.0.1', port: await closedPort() } }],
    }),
    send: post,
    code: 'response_guard_failed',
    at: 'webhook:',
    passes: 'the service of the webhook guard responds.',
    alsoPass: ['`failureMode` is FailOpen.'],
    hides: ['sesame'],
  },
  {
    name: 'a tool that a rule hides',
    config: async ({ t }) =>
      mcpConfig(
        { one: await useMcpServer(t) },
        {
          policies: { backend: { mcp: { authorization: { rules: [{ deny: 'mcp.tool.name == "echo"' }] } } } },
        },
      ),
    async send({ port }) {
      const caller = new McpCaller(port)
      const session = await caller.begin()
      await session.ask('tools/call', { name: 'echo', arguments: { text: 'x' } })
    },
    code: 'deny_rule_true',
    at: 'deny: mcp.tool.name == "echo"',
    passes: 'mcp.tool.name is not "echo" (it is "echo").',
    alsoPass: ['the rule is changed.'],
  },
  {
    name: 'an answer of the config itself',
    config: () => httpConfig([{ policies: { directResponse: { status: 403, body: 'closed' } } }]),
    send: get,
    code: 'answered_by_config',
    at: 'directResponse',
    passes: 'the route does not have this policy.',
  },
  {
    name: 'a redirect',
    config: () => httpConfig([{ policies: { requestRedirect: { scheme: 'https' } } }]),
    send: get,
    code: 'redirected',
    at: 'requestRedirect',
    passes: 'the route does not have this policy.',
  },
]
