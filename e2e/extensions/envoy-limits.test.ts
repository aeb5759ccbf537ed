import { describe, it, type TestContext } from 'node:test'
import { type Judge, useLimitServer } from '../../packages/gateway/src/testing/services/limit-server.ts'
import { useOrigin } from '../../packages/gateway/src/testing/scene.ts'
import { withoutEnvoy as skip } from './servers.ts'
import { any, compare, type Difference, ownWays, type Parts, portOf, type Side, useBoth } from './side-by-side.ts'

const requests: Record<string, Parts> = {
  'within its limit': { headers: ['x-user: ann'] },
  'with an empty value': { headers: ['x-user:'] },
  'without a descriptor': {},
  'over its limit': { headers: ['x-user: over'] },
  'over its limit, with words of the server': { headers: ['x-user: words'] },
  'a call of gRPC over its limit': {
    line: 'POST /pkg.S/M',
    headers: ['x-user: over', 'content-type: application/grpc', 'te: trailers'],
    body: 'abcde',
  },
  'a server that fails': { headers: ['x-user: broken'] },
}

const header = (key: string, value: string) => ({ key, value, rawValue: new Uint8Array() })

const judge: Judge = ({ descriptors }) => {
  const user = descriptors[0]?.entries ?? ''
  if (user === 'user=broken') throw new Error('broken')
  const isOver = user === 'user=over' || user === 'user=words'
  return {
    overallCode: isOver ? 2 : 1,
    statuses: [
      {
        code: isOver ? 2 : 1,
        currentLimit: { name: 'per-user', requestsPerUnit: 10, unit: 2 },
        limitRemaining: isOver ? 0 : 7,
        durationUntilReset: { seconds: 30, nanos: 0 },
        quota: undefined,
      },
    ],
    responseHeadersToAdd: [header('x-ext-ratelimited', 'told')],
    requestHeadersToAdd: [header('x-counted', 'yes')],
    rawBody: user === 'user=words' ? Buffer.from('slow down') : new Uint8Array(),
  }
}

const differences: Difference[] = [
  ...ownWays,
  {
    what: /^client headers x-ratelimit-limit$/,
    why: 'Envoy adds the window and the name of the limit; the gateway sends the number only, unless the service sends more.',
  },
  { what: /^client headers x-envoy-ratelimited$/, why: 'Only Envoy sends this header.' },
  { what: /^client headers retry-after$/, why: 'The gateway tells the client when to retry.' },
  {
    what: /^client (body|headers content-(length|type))$/,
    requests: ['over its limit', 'a server that fails'],
    why: 'The gateway sends the reason, Envoy sends nothing.',
  },
  {
    what: /^client headers grpc-message$/,
    requests: ['a call of gRPC over its limit'],
    why: 'The gateway sends the reason, Envoy sends nothing.',
  },
]

describe('Envoy beside the gateway, with a rate limit service', { skip }, () => {
  it('the server, the client and the backend see the same but for what is listed', async (t) => {
    await compare(t, 'rate limit service', await useSides(t), requests, differences)
  })
})

async function useSides(t: TestContext): Promise<[Side, Side]> {
  const origin = await useOrigin(t)
  const limits = await useLimitServer(t, judge)
  const filter = {
    name: 'envoy.filters.http.ratelimit',
    typed_config: any('filters.http.ratelimit.v3.RateLimit', {
      domain: 'shop',
      timeout: '10s',
      failure_mode_deny: true,
      enable_x_ratelimit_headers: 'DRAFT_VERSION_03',
      rate_limit_service: {
        transport_api_version: 'V3',
        grpc_service: { envoy_grpc: { cluster_name: 'server' }, timeout: '10s' },
      },
    }),
  }
  const byUser = { actions: [{ request_headers: { header_name: 'x-user', descriptor_key: 'user' } }] }
  const route = { route: { cluster: 'origin', rate_limits: [byUser] } }
  const global = {
    backendRef: { host: limits.host },
    domain: 'shop',
    timeout: '10s',
    descriptors: [{ entries: [{ name: 'user', expression: 'request.headers["x-user"]' }] }],
  }
  const policies = { rateLimit: { global } }
  const server = portOf(limits)
  return useBoth(t, { origin, server, isGrpc: true, filter, route, policies, asked: () => limits.seen.splice(0) })
}
