import type { TestContext } from 'node:test'
import type { OriginHandler } from '../../packages/gateway/src/testing/origin.ts'
import {
  bytesOf,
  fieldsOf,
  partsOf,
  type Process,
  useAnsweringProcessor,
} from '../../packages/gateway/src/testing/services/processor.ts'
import { useOrigin } from '../../packages/gateway/src/testing/scene.ts'
import type { ProcessingRequest } from '../../packages/gateway/src/protos/envoy/service/ext_proc/v3/external_processor.ts'
import { any, type Difference, ownWays, portOf, type Side, useBoth } from './side-by-side.ts'

type Mode = 'None' | 'Streamed' | 'Buffered' | 'FullDuplexStreamed'

/** Expected differences with any processor. */
export const ofProcessors: readonly Difference[] = [
  ...ownWays,
  { what: /^asked heads 0 x-request-id$/, why: 'Envoy generates a request id.' },
  { what: /^asked heads 0 x-forwarded-(for|host)$/, why: 'Envoy adds these headers only if configured.' },
  { what: /^asked heads 1 x-envoy-upstream-service-time$/, why: 'Only Envoy sends this header.' },
  {
    what: /^asked heads 1 connection$/,
    why: 'The header belongs to the connection and is removed before policies run on the response.',
  },
  {
    what: /^client headers transfer-encoding$/,
    requests: ['HEAD'],
    why: 'A response to HEAD has no body, and no framing if the backend sends no length.',
  },
]

/** The differences from Envoy when the external processor fails. */
export const ofFailures: Difference = {
  what: /^client (body|headers content-(length|type))$/,
  requests: [
    'the processor fails at the head',
    'the processor fails at the body',
    'the processor fails at the head of the answer',
    'the processor fails at the body of the answer',
  ],
  why: 'The gateway sends the reason, Envoy sends nothing.',
}

/** The differences from Envoy when the external processor replaces the body in its response to the headers. */
export const ofNewBodies: Difference = {
  what: /^(backend|client) headers (content-length|transfer-encoding)$/,
  requests: [
    'a body that is replaced at its head',
    'a body that is given to a request without one',
    'an answer that is replaced at its head',
  ],
  why: 'The length of a new body is known.',
}

const MODES: Readonly<Record<Mode, string>> = {
  None: 'NONE',
  Streamed: 'STREAMED',
  Buffered: 'BUFFERED',
  FullDuplexStreamed: 'FULL_DUPLEX_STREAMED',
}

/** Both with a processor that says what it does by the path of the request. */
export async function useProcessorSides(
  t: TestContext,
  mode: Mode,
  byPath: (path: string, message: ProcessingRequest) => ReturnType<Process>,
  answer: OriginHandler = (_seen, response) => response.end('from origin'),
): Promise<[Side, Side]> {
  const origin = await useOrigin(t, answer)
  let path = ''
  const processor = await useAnsweringProcessor(t, (message) => {
    path = fieldsOf(message)[':path'] ?? path
    return byPath(path, message)
  })
  const isStreamed = mode === 'FullDuplexStreamed' || mode === 'Streamed'
  const filter = {
    name: 'envoy.filters.http.ext_proc',
    typed_config: any('filters.http.ext_proc.v3.ExternalProcessor', {
      grpc_service: { envoy_grpc: { cluster_name: 'server' }, timeout: '10s' },
      message_timeout: '10s',
      processing_mode: {
        request_header_mode: 'SEND',
        response_header_mode: 'SEND',
        request_body_mode: MODES[mode],
        response_body_mode: MODES[mode],
        ...(isStreamed && { request_trailer_mode: 'SEND', response_trailer_mode: 'SEND' }),
      },
    }),
  }
  const extProc = {
    backendRef: { host: processor.host },
    processingOptions: { requestBodyMode: mode, responseBodyMode: mode },
    messageTimeout: '10s',
  }
  const server = portOf(processor)
  const seen = (): unknown => asked(processor.seen.splice(0), path)
  const parts = { origin, server, isGrpc: true, filter, policies: { extProc }, asked: seen, trailers: isStreamed }
  return useBoth(t, parts)
}

/** `path` is that of the request: `/fails/responseBody` says where the processor fails. */
function asked(all: readonly ProcessingRequest[], path: string): unknown {
  const seen = untilFailure(all, path)
  const of = (part: 'Headers' | 'Trailers') => seen.filter(({ request }) => request?.$case.endsWith(part) === true)
  const parts = partsOf(seen)
  return {
    // Bodies come in as many pieces as they came in.
    parts: parts.filter((part, index) => !part.endsWith('Body') || part !== parts[index - 1]).join(' '),
    protocol: JSON.stringify(seen[0]?.protocolConfig),
    ends: seen
      .flatMap(({ request }) =>
        request !== undefined && 'endOfStream' in request.value && request.value.endOfStream ? [request.$case] : [],
      )
      // The end of a body comes with its last piece or behind it, as it happens, and the processor fails at the first.
      .filter((part) => !(part.endsWith('Body') && path === `/fails/${part}`))
      .join(' '),
    heads: of('Headers').map((head) => ({ ...fieldsOf(head), date: '' })),
    trailers: of('Trailers').map(fieldsOf),
    requestBody: bytesOf(seen, 'requestBody'),
    responseBody: bytesOf(seen, 'responseBody'),
  }
}

/**
 * The messages up to the failure of the processor. Both proxies must agree on these; messages that are in flight when the
 * processor fails may arrive or not.
 */
function untilFailure(seen: readonly ProcessingRequest[], path: string): readonly ProcessingRequest[] {
  const failed = seen.findIndex(({ request }) => request !== undefined && path === `/fails/${request.$case}`)
  return failed === -1 ? seen : seen.slice(0, failed + 1)
}
