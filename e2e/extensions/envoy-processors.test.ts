import { describe, it, type TestContext } from 'node:test'
import {
  agree,
  answerTo,
  bodyOf,
  bytesOf,
  fieldsOf,
  headers,
  immediate,
  partsOf,
  type Process,
  useAnsweringProcessor,
} from '../../packages/gateway/src/testing/processor.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../packages/gateway/src/testing/scene.ts'
import type { ProcessingRequest } from '../../packages/gateway/src/wire/protos/envoy/service/ext_proc/v3/external_processor.ts'
import { useEnvoy, withoutEnvoy as skip } from './servers.ts'
import {
  any,
  compare,
  type Difference,
  envoyConfig,
  lastSeen,
  ownWays,
  type Parts,
  portOf,
  type Side,
} from './side-by-side.ts'

/** The same requests to both, one processor and one backend behind them. */
const requests: Record<string, Parts> = {
  'a plain one': {},
  'path with query': { line: 'GET /a/b?x=1&y=%20z' },
  HEAD: { line: 'HEAD /' },
  'a body': { line: 'POST /', body: 'hello' },
  'a body in chunks': { line: 'POST /', headers: ['transfer-encoding: chunked'], body: '5\r\nhello\r\n0\r\n\r\n' },
  'lines of one name': { headers: ['x-a: 1', 'x-a: 2'] },
  'a value beyond ASCII': { headers: ['x-name: Zoë'] },
  'other headers': { line: 'GET /edited', headers: ['x-user: mallory', 'x-secret: s'] },
  'another path': { line: 'GET /moved' },
  'another status': { line: 'GET /status' },
  'other bodies': { line: 'POST /bodies', body: 'question' },
  'answered at once': { line: 'GET /denied' },
  'answered at its body': { line: 'POST /refused', body: 'question' },
  'answered in place of the answer': { line: 'GET /hidden' },
}

const byPath = (path: string, message: ProcessingRequest): ReturnType<Process> => {
  const part = message.request
  const asked = part?.$case
  // Envoy fails where the length that was announced is not the one of the new body.
  if (path === '/bodies' && (asked === 'requestHeaders' || asked === 'responseHeaders'))
    return answerTo(asked, headers({}, ['content-length']))
  if (asked === 'requestHeaders') {
    if (path === '/denied') return immediate(403, 'not you', { 'x-why': 'tired' })
    if (path === '/moved') return answerTo(asked, headers({ ':path': '/elsewhere?b=2' }))
    if (path === '/edited')
      return answerTo(asked, headers({ 'x-user': 'ann', ':method': 'DELETE', host: 'evil.example' }, ['x-secret']))
  }
  if (asked === 'requestBody') {
    if (path === '/refused') return immediate(422, 'no')
    return answerTo(asked, path === '/bodies' ? bodyOf('a longer question') : {})
  }
  if (asked === 'responseHeaders') {
    if (path === '/hidden') return immediate(451, 'hidden')
    if (path === '/status') return answerTo(asked, headers({ ':status': '201', 'x-new': 'n' }))
  }
  if (asked === 'responseBody') return answerTo(asked, path === '/bodies' ? bodyOf('short') : {})
  return agree(message)
}

const always: readonly Difference[] = [
  ...ownWays,
  { what: /^asked heads 0 x-request-id$/, why: 'Envoy makes one up.' },
  { what: /^asked heads 0 x-forwarded-(for|host)$/, why: 'Envoy adds them only when told to.' },
  { what: /^asked heads 1 x-envoy-upstream-service-time$/, why: "A header of Envoy's own." },
  {
    what: /^asked heads 1 connection$/,
    why: 'It belongs to the connection, and is taken off before policies see the answer.',
  },
  {
    what: /^client headers transfer-encoding$/,
    requests: ['HEAD'],
    why: 'An answer to HEAD has no body, and no framing where the backend states no length.',
  },
]

const ofHeads: readonly Difference[] = [
  {
    what: /^(backend|client) headers (content-length|transfer-encoding)$/,
    requests: ['other bodies'],
    why: 'Processors do not change how a message is framed.',
  },
]

const ofBodies: readonly Difference[] = [
  {
    what: /^(backend|client) headers (content-length|transfer-encoding)$/,
    requests: ['a body in chunks', 'other bodies'],
    why: 'The body was read whole for the processor, so its length is known.',
  },
]

for (const mode of ['None', 'Buffered'] as const) {
  describe(`Envoy beside the gateway, with a processor (${mode})`, { skip }, () => {
    it('the processor, the client and the backend see the same but for what is listed', async (t) => {
      await compare(await useSides(t, mode), requests, [...always, ...(mode === 'None' ? ofHeads : ofBodies)])
    })
  })
}

async function useSides(t: TestContext, mode: 'None' | 'Buffered'): Promise<[Side, Side]> {
  const origin = await useOrigin(t, (_seen, response) => response.end('from origin'))
  let path = ''
  const processor = await useAnsweringProcessor(t, (message) => {
    path = fieldsOf(message)[':path'] ?? path
    return byPath(path, message)
  })
  const port = await closedPort()
  const filter = {
    name: 'envoy.filters.http.ext_proc',
    typed_config: any('filters.http.ext_proc.v3.ExternalProcessor', {
      grpc_service: { envoy_grpc: { cluster_name: 'server' }, timeout: '10s' },
      message_timeout: '10s',
      processing_mode: {
        request_header_mode: 'SEND',
        response_header_mode: 'SEND',
        request_body_mode: mode.toUpperCase(),
        response_body_mode: mode.toUpperCase(),
      },
    }),
  }
  const ports = { port, origin: origin.port, server: portOf(processor) }
  await useEnvoy(t, port, envoyConfig({ ...ports, isGrpc: true, filter, route: { route: { cluster: 'origin' } } }))
  const extProc = {
    backendRef: { host: processor.host },
    processingOptions: { requestBodyMode: mode, responseBodyMode: mode },
    messageTimeout: '10s',
  }
  const backend = { host: origin.host, policies: { http: { version: 'HTTP1' } } }
  const gateway = await useGateway(t, httpConfig([{ policies: { extProc }, backends: [backend] }]))
  const side = (at: number): Side => ({
    port: at,
    asked: () => asked(processor.seen.splice(0)),
    backend: () => lastSeen(origin),
  })
  return [side(port), side(gateway.port())]
}

function asked(seen: readonly ProcessingRequest[]): unknown {
  const heads = seen.filter(({ request }) => request?.$case.endsWith('Headers') === true)
  return {
    parts: partsOf(seen).join(' '),
    protocol: JSON.stringify(seen[0]?.protocolConfig),
    ends: heads
      .map(
        ({ request }) =>
          request?.$case.endsWith('Headers') === true && 'endOfStream' in request.value && request.value.endOfStream,
      )
      .join(' '),
    heads: heads.map((head) => ({ ...fieldsOf(head), date: '' })),
    requestBody: bytesOf(seen, 'requestBody'),
    responseBody: bytesOf(seen, 'responseBody'),
  }
}
