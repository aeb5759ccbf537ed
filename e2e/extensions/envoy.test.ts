import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  bytesOption,
  type Check,
  denied,
  ok,
  option,
  useAuthorizer,
} from '../../packages/gateway/src/testing/services/authorizer.ts'
import { useOrigin } from '../../packages/gateway/src/testing/scene.ts'
import type { CheckRequest } from '../../packages/gateway/src/protos/envoy/service/auth/v3/external_auth.ts'
import { withoutEnvoy as skip } from './servers.ts'
import { any, compare, type Difference, type Parts, portOf, type Side, useBoth } from './side-by-side.ts'

const MAX_BODY = 64

/** The same requests to both, one authorizer and one backend behind them. */
const requests: Record<string, Parts> = {
  'a plain one': {},
  'path with query': { line: 'GET /a/b?x=1&y=%20z&x=2' },
  'escapes in the path': { line: 'GET /a%2Fb/%C3%A4?q=%26' },
  HEAD: { line: 'HEAD /' },
  PUT: { line: 'PUT /item', body: 'text' },
  DELETE: { line: 'DELETE /item/1' },
  OPTIONS: { line: 'OPTIONS /' },
  PATCH: { line: 'PATCH /item', body: '{"a":1}', headers: ['content-type: application/json'] },
  'lines of one name': { headers: ['x-a: 1', 'x-a: 2', 'X-A: 3, 4'] },
  'cookies in two lines': { headers: ['cookie: a=1; b=2', 'cookie: c=3'] },
  'an empty value': { headers: ['x-empty:'] },
  'a value beyond ASCII': { headers: ['x-name: Zoë'] },
  'a request id': { headers: ['x-request-id: 7b8e1c9e-61f0-4e71-9c77-6f0f4b7f9d11'] },
  'a credential': { headers: ['authorization: Bearer abc.def'] },
  'an empty body': { line: 'POST /', headers: ['content-length: 0'] },
  'a body as long as may be': { line: 'POST /', body: 'x'.repeat(MAX_BODY) },
  'a longer body': { line: 'POST /', body: 'y'.repeat(MAX_BODY * 40) },
  'a body in chunks': { line: 'POST /', headers: ['transfer-encoding: chunked'], body: '5\r\nhello\r\n0\r\n\r\n' },
  'a body beyond ASCII': { line: 'POST /', body: 'größer' },
  'a call of gRPC': {
    line: 'POST /pkg.S/M',
    headers: ['content-type: application/grpc', 'te: trailers'],
    body: 'abcde',
  },
  'refused with words': { line: 'GET /denied' },
  'refused call of gRPC': {
    line: 'POST /denied',
    headers: ['content-type: application/grpc', 'te: trailers'],
    body: 'abcde',
  },
  'refused without words': { line: 'GET /silent' },
  'other headers and query': {
    line: 'GET /edited?keep=1&drop=2',
    headers: ['x-user: mallory', 'x-list: a', 'x-secret: s'],
  },
  'two cookies for the client': { line: 'GET /cookies' },
  'two lines of one name for the backend': { line: 'GET /lines', headers: ['x-group: z'] },
  'a header set and removed': { line: 'GET /both', headers: ['x-user: mallory'] },
  'a header of bytes that are no UTF-8': { line: 'GET /bytes' },
  'a body that is no UTF-8': { line: 'POST /', body: Buffer.from([0x61, 0xff, 0xfe, 0x62, 0xc3, 0x28, 0xe2, 0x82]) },
  'refused with two cookies': { line: 'GET /forget' },
}

const check: Check = ({ attributes }) => {
  const path = attributes?.request?.http?.path ?? ''
  if (path.startsWith('/silent')) return { status: { code: 7, message: 'no', details: [] } }
  if (path.startsWith('/denied'))
    return denied({ status: { code: 401 }, headers: [option('x-why', 'tired')], body: 'come back later' })
  if (path.startsWith('/cookies'))
    return ok({ responseHeadersToAdd: [option('set-cookie', 'a=1'), option('set-cookie', 'b=2')] })
  if (path.startsWith('/lines')) return ok({ headers: [option('x-group', 'a'), option('x-group', 'b')] })
  if (path.startsWith('/both')) return ok({ headers: [option('x-user', 'ann')], headersToRemove: ['x-user'] })
  if (path.startsWith('/bytes')) return ok({ headers: [bytesOption('x-name', [0x5a, 0xe9])] })
  if (path.startsWith('/forget'))
    return denied({
      status: { code: 401 },
      headers: [option('set-cookie', 'a='), option('set-cookie', 'b=')],
      body: 'no',
    })
  if (!path.startsWith('/edited')) return ok({})
  return ok({
    headers: [option('x-user', 'ann'), option('x-list', 'b', { append: { value: true } })],
    headersToRemove: ['x-secret'],
    queryParametersToSet: [{ key: 'user', value: 'ann' }],
    queryParametersToRemove: ['drop'],
    responseHeadersToAdd: [option('x-decided', 'yes')],
  })
}

const differences: Difference[] = [
  {
    what: /^asked request http id$/,
    why: 'Envoy sends the number of the stream; the gateway sends `x-request-id`, if there is one.',
  },
  { what: /^(asked request http|backend) headers x-request-id$/, why: 'Envoy generates a request id.' },
  {
    what: /^(asked request http|backend) headers x-forwarded-(for|host)$/,
    why: 'Envoy adds these headers only if configured.',
  },
  { what: /^backend headers x-envoy-expected-rq-timeout-ms$/, why: 'Only Envoy sends this header.' },
  {
    what: /^asked request http headers cookie$/,
    requests: ['cookies in two lines'],
    why: 'The gateway joins cookie lines with a semicolon, as HTTP/2 requires; with a comma, values would be parsed incorrectly.',
  },
  {
    what: /^asked request http headers te$/,
    requests: ['a call of gRPC', 'refused call of gRPC'],
    why: 'The header belongs to the connection and is removed before policies run on the request.',
  },
  {
    what: /^backend headers connection$/,
    requests: ['a call of gRPC'],
    why: 'HTTP/1.1 requires that `connection` names `te`.',
  },
  {
    what: /^client headers transfer-encoding$/,
    requests: ['HEAD'],
    why: 'A response to HEAD has no body, and no framing if the backend sends no length.',
  },
  {
    what: /^backend headers content-length$/,
    requests: ['OPTIONS'],
    why: 'The gateway sends no length without a body.',
  },
  {
    what: /^backend headers (content-length|transfer-encoding)$/,
    requests: ['a body in chunks'],
    why: 'The gateway buffered the body for the authorizer, so its length is known.',
  },
  {
    what: /^client headers grpc-message$/,
    requests: ['refused call of gRPC'],
    why: 'The gateway also escapes spaces and punctuation; clients decode them.',
  },
  {
    what: /^client (body|headers content-(length|type))$/,
    requests: ['refused without words'],
    why: 'The gateway sends the reason, Envoy sends nothing.',
  },
  {
    what: /^backend headers x-name$/,
    requests: ['a header of bytes that are no UTF-8'],
    why: 'Envoy reads only `value`; the gateway reads `raw_value` if `value` is empty.',
  },
  {
    what: /^asked request http rawBody /,
    requests: ['a body that is no UTF-8'],
    why: '`body` is the same in both; the gateway also sends the exact bytes in `raw_body`, Envoy sends only one of the two.',
  },
  {
    what: /^backend headers x-list$/,
    requests: ['other headers and query'],
    why: 'The gateway joins values with a space after the comma.',
  },
]

describe('Envoy beside the gateway', { skip }, () => {
  it('the authorizer, the client and the backend see the same but for what is listed', async (t) => {
    await compare(t, 'gRPC authorizer', await useSides(t), requests, differences)
  })
})

async function useSides(t: TestContext): Promise<[Side, Side]> {
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, check)
  const perRoute = any('filters.http.ext_authz.v3.ExtAuthzPerRoute', {
    check_settings: { context_extensions: { tier: 'gold' } },
  })
  const filter = {
    name: 'envoy.filters.http.ext_authz',
    typed_config: any('filters.http.ext_authz.v3.ExtAuthz', {
      transport_api_version: 'V3',
      grpc_service: { envoy_grpc: { cluster_name: 'server' }, timeout: '10s' },
      with_request_body: { max_request_bytes: MAX_BODY, allow_partial_message: true },
    }),
  }
  const route = { route: { cluster: 'origin' }, typed_per_filter_config: { [filter.name]: perRoute } }
  const extAuth = {
    backendRef: { host: authorizer.host },
    forwardBody: { maxSize: MAX_BODY },
    timeout: '10s',
    grpc: { contextExtensions: { tier: 'gold' } },
  }
  const policies = { extAuth }
  const server = portOf(authorizer)
  return useBoth(t, {
    origin,
    server,
    isGrpc: true,
    filter,
    route,
    policies,
    asked: () => asked(authorizer.seen.splice(0)),
  })
}

/** But for the time, and for ports, which are others on each side. */
function asked(seen: readonly CheckRequest[]): unknown {
  assert.equal(seen.length, 1)
  const plain = (_key: string, value: unknown): unknown => (value instanceof Map ? Object.fromEntries(value) : value)
  const { source, destination, request, ...rest } = seen[0]?.attributes ?? {}
  const peers = { source: withoutPort(source), destination: withoutPort(destination) }
  return JSON.parse(JSON.stringify({ ...rest, ...peers, request: { http: request?.http } }, plain)) as unknown
}

type Peer = NonNullable<CheckRequest['attributes']>['source']

function withoutPort(peer: Peer): unknown {
  const address = peer?.address?.address
  return { ...peer, address: address?.$case === 'socketAddress' && address.value.address }
}
