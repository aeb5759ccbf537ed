import { describe, it, type TestContext } from 'node:test'
import type { OriginHandler } from '../../packages/gateway/src/testing/origin.ts'
import { useOrigin } from '../../packages/gateway/src/testing/scene.ts'
import { withoutEnvoy as skip } from './servers.ts'
import { any, compare, type Difference, lastSeen, ownWays, type Parts, type Side, useBoth } from './side-by-side.ts'

const requests: Record<string, Parts> = {
  'a plain one': {},
  'path with query': { line: 'GET /a/b?x=1&y=%20z&x=2' },
  HEAD: { line: 'HEAD /' },
  'a body, which stays': { line: 'POST /item', body: 'text' },
  DELETE: { line: 'DELETE /item/1' },
  'headers that are named': { headers: ['authorization: Bearer a', 'cookie: a=1', 'x-a: 1', 'x-other: 2'] },
  'lines of one name': { headers: ['x-a: 1', 'x-a: 2'] },
  'headers of the answer': { line: 'GET /user', headers: ['x-user: mallory', 'x-secret: s', 'x-groups: admin'] },
  'refused with words': { line: 'GET /denied' },
  'sent elsewhere': { line: 'GET /sign-in' },
  'a call of gRPC that is refused': {
    line: 'POST /denied',
    headers: ['content-type: application/grpc', 'te: trailers'],
    body: 'abcde',
  },
  'a broken authorizer': { line: 'GET /broken' },
  'headers to remove': { line: 'GET /remove', headers: ['x-secret: s', 'x-other: o', 'x-user: mallory', 'x-kept: k'] },
  'two lines of one name for the backend': { line: 'GET /lines', headers: ['x-user: mallory'] },
  'a header of bytes beyond ASCII': { line: 'GET /bytes' },
  'refused with two cookies': { line: 'GET /forget' },
}

const judge: OriginHandler = ({ url }, response) => {
  if (url.startsWith('/denied'))
    return void response.writeHead(401, { 'www-authenticate': 'Basic', 'x-why': 'tired' }).end('who are you?')
  if (url.startsWith('/sign-in')) return void response.writeHead(302, { location: '/in' }).end()
  if (url.startsWith('/broken')) return void response.writeHead(503).end('broken')
  if (url.startsWith('/remove'))
    return void response
      .writeHead(200, {
        'x-envoy-auth-headers-to-remove': 'x-secret, X-Other,x-user, host, content-length',
        'x-user': 'ann',
      })
      .end()
  if (url.startsWith('/lines'))
    return void response
      .writeHead(
        200,
        [
          ['x-user', 'ann'],
          ['x-user', 'bob'],
        ].flat(),
      )
      .end()
  if (url.startsWith('/bytes')) return void response.writeHead(200, { 'x-user': 'Zo\u00c3\u00ab' }).end()
  if (url.startsWith('/forget')) return void response.writeHead(401, { 'set-cookie': ['a=', 'b='] }).end('no')
  response.writeHead(200, { 'x-user': 'ann', 'x-secret': 'kept here' }).end('welcome')
}

const differences: Difference[] = [
  ...ownWays,
  { what: /^asked headers x-envoy-(internal|expected-rq-timeout-ms)$/, why: 'Only Envoy sends this header.' },
  {
    what: /^asked headers host$/,
    why: "The gateway sends the authorizer's own host; `addRequestHeaders` can add the client's host.",
  },
  {
    what: /^asked headers content-length$/,
    why: 'Without a body, Envoy sends a length of 0 and the gateway sends none.',
  },
  {
    what: /^backend headers x-groups$/,
    requests: ['headers of the answer'],
    why: 'The gateway never forwards these headers from the client; only the authorizer may set them.',
  },
  {
    what: /^backend headers x-user$/,
    requests: ['two lines of one name for the backend'],
    why: 'The gateway forwards every line of the authorizer; Envoy forwards the last one.',
  },
  {
    what: /^asked headers x-a$/,
    requests: ['lines of one name'],
    why: 'The gateway keeps separate header lines; Envoy joins them.',
  },
  {
    what: /^client headers transfer-encoding$/,
    requests: ['HEAD'],
    why: 'A response to HEAD has no body, and no framing if the backend sends no length.',
  },
  {
    what: /^client headers grpc-message$/,
    requests: ['a call of gRPC that is refused'],
    why: 'The gateway also escapes spaces and punctuation; clients decode them.',
  },
  {
    what: /^client (body|headers content-(length|type))$/,
    requests: ['a broken authorizer'],
    why: 'The gateway sends the reason, Envoy sends nothing.',
  },
]

describe('Envoy beside the gateway, with an authorizer that speaks HTTP', { skip }, () => {
  it('the authorizer, the client and the backend see the same but for what is listed', async (t) => {
    await compare(t, 'HTTP authorizer', await useSides(t), requests, differences)
  })
})

async function useSides(t: TestContext): Promise<[Side, Side]> {
  const origin = await useOrigin(t)
  const authorizer = await useOrigin(t, judge)
  const exactly = (names: string[]) => ({ patterns: names.map((exact) => ({ exact })) })
  const filter = {
    name: 'envoy.filters.http.ext_authz',
    typed_config: any('filters.http.ext_authz.v3.ExtAuthz', {
      transport_api_version: 'V3',
      allowed_headers: exactly(['authorization', 'cookie', 'x-a']),
      http_service: {
        server_uri: { uri: authorizer.host, cluster: 'server', timeout: '10s' },
        authorization_request: { headers_to_add: [{ key: 'x-added', value: '1' }] },
        authorization_response: { allowed_upstream_headers: exactly(['x-user', 'x-groups']) },
      },
    }),
  }
  const extAuth = {
    backendRef: { host: authorizer.host },
    timeout: '10s',
    http: {
      allowedRequestHeaders: ['authorization', 'cookie', 'x-a'],
      addRequestHeaders: { 'x-added': '"1"' },
      allowedResponseHeaders: ['x-user', 'x-groups'],
    },
  }
  const { port: server } = authorizer
  return useBoth(t, { origin, server, isGrpc: false, filter, policies: { extAuth }, asked: () => lastSeen(authorizer) })
}
