import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createDelegatingTable } from '../../../gateway/src/pipeline/route/delegating-table.ts'
import { makeRequest } from '../../../gateway/src/pipeline/route/test-routes.ts'
import { request } from '../../../gateway/src/testing/client.ts'
import { TestGateway } from '../../../gateway/src/testing/gateway.ts'
import { useOrigin } from '../../../gateway/src/testing/scene.ts'
import type { Resource } from '../resources/resource.ts'
import type { RouteStatus } from '../resources/status.ts'
import { createTranslator, translateAll } from './golden.ts'

/** Unless all cases are wanted, a share of them runs. */
const SHARE = process.env['PROPERTIES'] === 'full' ? 1 : 0.2

const GROUP = 'gateway.networking.k8s.io'

function resource(kind: string, name: string, spec: unknown, more: Partial<Resource['metadata']> = {}): Resource {
  const apiVersion = kind === 'Service' ? 'v1' : kind.startsWith('Gw') ? 'portico.dev/v1alpha1' : `${GROUP}/v1`
  return { apiVersion, kind, metadata: { namespace: 'shop', name, generation: 1, ...more }, spec }
}

const GATEWAY: readonly Resource[] = [
  {
    apiVersion: `${GROUP}/v1`,
    kind: 'GatewayClass',
    metadata: { name: 'portico' },
    spec: { controllerName: 'portico.dev/gateway' },
  },
  resource('Gateway', 'web', {
    gatewayClassName: 'portico',
    listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
  }),
]

const routeRef = (name: string) => ({ group: GROUP, kind: 'HTTPRoute', name })

interface Match {
  path: { type: 'Exact' | 'PathPrefix'; value: string }
  method?: string
  headers?: { name: string; value: string }[]
}

/** A rule that goes to a backend, or to the routes of these numbers. */
interface Rule {
  matches: Match[]
  children: number[]
}

interface TestRoute {
  /** Whether it is attached to the Gateway. */
  isRoot: boolean
  parents: number[]
  hostnames: string[]
  rules: Rule[]
}

const path = fc.array(fc.constantFrom('a', 'a', 'b'), { maxLength: 2 }).map((names) => `/${names.join('/')}`)
const match: fc.Arbitrary<Match> = fc.record(
  {
    path: fc.record({
      type: fc.constantFrom('Exact', 'PathPrefix', 'PathPrefix', 'PathPrefix'),
      value: fc.oneof(fc.constant('/'), path),
    }),
    method: fc.constantFrom('GET', 'GET', 'PUT'),
    headers: fc.constant([{ name: 'x', value: '1' }]),
  },
  { requiredKeys: ['path'] },
)
const COUNT = 7
/** Most routes delegate to the next ones, so that chains are long; some delegate to any, so that some lead back. */
const childrenOf = (index: number): fc.Arbitrary<number[]> =>
  fc.oneof(
    fc.constant<number[]>([]),
    {
      weight: 3,
      arbitrary: fc.subarray([1, 2, 3].map((step) => (index + step) % COUNT).filter((next) => next > index)),
    },
    fc.uniqueArray(fc.nat(COUNT - 1), { maxLength: 2 }),
  )
const testRoute = (index: number): fc.Arbitrary<TestRoute> =>
  fc.record({
    isRoot: fc.constant(index === 0 || index === 3),
    // Most routes name all others, so that links are frequent, also those that lead back.
    parents: fc.oneof(
      fc.constant<number[]>([...Array(COUNT).keys()]),
      fc.uniqueArray(fc.nat(COUNT - 1), { maxLength: 4 }),
    ),
    hostnames: fc.oneof(fc.constant<string[]>([]), fc.uniqueArray(fc.constantFrom('a.com', '*.com'), { maxLength: 2 })),
    rules: fc.array(
      fc.record({
        matches: fc.array(match, { minLength: 1, maxLength: 2 }),
        children: childrenOf(index),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  })
const testRoutes = fc.tuple(...[...Array(COUNT).keys()].map(testRoute))

interface TestRequest {
  method: string
  host: string
  path: string
  headers: [string, string][]
}

const testRequest: fc.Arbitrary<TestRequest> = fc.record({
  method: fc.constantFrom('GET', 'GET', 'PUT'),
  host: fc.constantFrom('a.com', 'b.com', 'c.org'),
  path,
  headers: fc.constantFrom<[string, string][]>([], [['x', '1']]),
})

function toResource({ isRoot, parents, hostnames, rules }: TestRoute, index: number): Resource {
  const spec = {
    parentRefs: [...(isRoot ? [{ name: 'web' }] : []), ...parents.map((parent) => routeRef(`r${parent}`))],
    hostnames,
    rules: rules.map(({ matches, children }) => ({
      matches,
      backendRefs: children.length === 0 ? [{ name: 'web', port: 80 }] : children.map((child) => routeRef(`r${child}`)),
    })),
  }
  return resource('HTTPRoute', `r${index}`, spec, { creationTimestamp: `2026-01-0${index + 1}T00:00:00Z` })
}

/** The rules of delegation once more, without any index or config. Returns the routes and rules that a request takes. */
function expectedChain(routes: readonly TestRoute[], asked: TestRequest): string[] | null {
  const links = (from: number): number[] =>
    routes[from]?.rules.flatMap(({ children }) => children).filter((child) => routes[child]?.parents.includes(from)) ??
    []
  const reaches = (from: number, to: number, seen: number[] = []): boolean =>
    from === to || (!seen.includes(from) && links(from).some((next) => reaches(next, to, [...seen, from])))
  const linkedIn = (parent: number, { children }: Rule): number[] =>
    children.filter((child) => routes[child]?.parents.includes(parent) === true && !reaches(child, parent))
  const walk = (level: readonly number[], chain: string[]): string[] | null => {
    const candidates = level
      .toSorted((one, other) => one - other)
      .flatMap((route) => routes[route]?.rules.map((rule, index) => ({ route, rule, index })) ?? [])
      .flatMap((each) => each.rule.matches.map((one) => ({ ...each, match: one })))
      .map((each) => ({ ...each, host: hostRank(routes[each.route]?.hostnames ?? [], asked.host) }))
      .filter(({ host, match: one }) => host > 0 && fits(one, asked))
    const [best] = candidates.toSorted((one, other) => {
      const [left, right] = [ranks(one.host, one.match), ranks(other.host, other.match)]
      return left.map((rank, at) => (right[at] ?? 0) - rank).find((difference) => difference !== 0) ?? 0
    })
    if (best === undefined) return null
    const next = [...chain, `r${best.route}/${best.index}`]
    const children = linkedIn(best.route, best.rule)
    // Five routes are the longest chain that is served.
    if (children.length === 0) return next
    return walk(chain.length === 4 ? [] : children, next)
  }
  const roots = routes.flatMap(({ isRoot }, index) => (isRoot ? [index] : []))
  return walk(roots, [])
}

function hostRank(hostnames: readonly string[], host: string): number {
  if (hostnames.length === 0) return 1
  if (hostnames.includes(host)) return 3
  return hostnames.includes('*.com') && host.endsWith('.com') ? 2 : 0
}

function fits({ path: { type, value }, method, headers = [] }: Match, asked: TestRequest): boolean {
  const start = value === '/' ? '' : value
  const isBelow = asked.path === start || asked.path.startsWith(`${start}/`)
  return (
    (type === 'Exact' ? asked.path === value : isBelow) &&
    (method === undefined || method === asked.method) &&
    headers.every(({ name, value: wanted }) => asked.headers.some((each) => each[0] === name && each[1] === wanted))
  )
}

/** The precedence of the Gateway API, as numbers of which the larger ones win. */
function ranks(host: number, { path: { type, value }, method, headers = [] }: Match): number[] {
  const length = type === 'PathPrefix' && value === '/' ? 0 : value.length
  return [host, type === 'Exact' ? 1 : 0, length, method === undefined ? 0 : 1, headers.length]
}

describe('delegation of random routes', () => {
  it('serves each request by the routes of a simple model', () => {
    let [deep, kept] = [0, 0]
    fc.assert(
      fc.property(testRoutes, fc.array(testRequest, { minLength: 12, maxLength: 12 }), (routes, requests) => {
        const { gateways } = translateAll([...GATEWAY, ...routes.map(toResource)])
        const made = gateways.get('shop/web')?.routes ?? []
        const table = createDelegatingTable(made.map((route) => ({ route, value: route.key })))
        for (const asked of requests) {
          const found = table.find(makeRequest(asked))?.value ?? null
          const chain = found?.slice('bind/80/http/'.length).replaceAll('shop/', '').split('>') ?? null
          const expected = expectedChain(routes, asked)
          assert.deepEqual(chain, expected)
          if (chain === null) kept++
          else if (chain.length > 2) deep++
        }
      }),
      // The cases are counted, so that none may be left out to save time.
      { seed: 25, numRuns: 300 * SHARE, interruptAfterTimeLimit: 60_000 },
    )
    assert.ok(deep > 50 * SHARE && kept > 100 * SHARE, `${deep} requests by three routes or more, ${kept} by none`)
  })

  it('accepts exactly the routes below others that the config has', () => {
    fc.assert(
      fc.property(testRoutes, (routes) => {
        const { gateways, statuses } = translateAll([...GATEWAY, ...routes.map(toResource)])
        const links = new Set(
          (gateways.get('shop/web')?.routes ?? []).flatMap(({ key }) => {
            const names = key.split('>').map((part) => part.split('/').at(-2))
            return names.slice(1).map((name, index) => `${name} in ${names[index]}`)
          }),
        )
        const accepted = [...statuses].flatMap(([id, status]) =>
          ((status as RouteStatus).parents ?? [])
            .filter(({ parentRef }) => parentRef.kind === 'HTTPRoute')
            .filter(({ conditions }) => conditions.some(({ type, status: is }) => type === 'Accepted' && is === 'True'))
            .map(({ parentRef }) => `${id.split('/')[2]} in ${parentRef.name}`),
        )
        assert.deepEqual(accepted.toSorted(), [...links].toSorted())
      }),
      { seed: 26, numRuns: 300 },
    )
  })
})

describe('a route that delegates', () => {
  it('serves its children over real sockets, with its own policies first', async (t) => {
    const origin = await useOrigin(t)
    const backend = resource('GwBackend', 'origin', { static: { host: '127.0.0.1', port: origin.port } })
    const toOrigin = [{ group: 'portico.dev', kind: 'GwBackend', name: 'origin' }]
    const setHeaders = (...set: { name: string; value: string }[]) => [
      { type: 'RequestHeaderModifier', requestHeaderModifier: { set } },
    ]
    const child = (name: string, prefix: string): Resource =>
      resource('HTTPRoute', name, {
        parentRefs: [routeRef('teams')],
        rules: [
          {
            matches: [{ path: { value: prefix } }],
            filters: setHeaders({ name: 'x-child', value: name }),
            backendRefs: toOrigin,
          },
        ],
      })
    const translator = createTranslator()
    const resources = [
      ...GATEWAY,
      backend,
      resource('HTTPRoute', 'teams', {
        parentRefs: [{ name: 'web' }],
        rules: [
          {
            matches: [{ path: { value: '/team' } }],
            filters: setHeaders({ name: 'x-parent', value: 'teams' }),
            backendRefs: [routeRef('red'), routeRef('blue')],
          },
        ],
      }),
      resource('GwPolicy', 'closed', {
        targetRefs: [{ group: GROUP, kind: 'HTTPRoute', name: 'teams' }],
        traffic: {
          authorization: { action: 'Deny', policy: { matchExpressions: ['request.path.endsWith("/admin")'] } },
        },
      }),
      child('red', '/team/red'),
      // It would serve everything that no child of the other route does.
      resource('HTTPRoute', 'all', { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: toOrigin }] }),
    ]
    for (const each of resources) translator.put(each)
    translator.settle()
    const gateway = new TestGateway({})
    t.after(() => gateway.close())
    const use = async (): Promise<void> => {
      const ir = translator.gateways.get('shop/web') ?? assert.fail('there is no config')
      await gateway.use({ ...ir, binds: ir.binds.map((bind) => ({ ...bind, port: 0 })) })
    }
    await use()
    const statusOf = async (at: string): Promise<number | undefined> =>
      (await request(gateway.port(), { path: at })).status
    assert.equal(await statusOf('/team/red/1'), 200)
    const headers = origin.seen.at(-1)?.headers ?? {}
    assert.deepEqual([headers['x-parent'], headers['x-child']], ['teams', 'red'])
    assert.equal(await statusOf('/team/red/admin'), 403)
    assert.equal(await statusOf('/team/blue'), 404)
    assert.equal(await statusOf('/elsewhere'), 200)
    translator.put(child('blue', '/team/blue'))
    translator.settle()
    await use()
    assert.equal(await statusOf('/team/blue'), 200)
    assert.equal(await statusOf('/team/blue/admin'), 403)
    translator.drop('HTTPRoute', 'shop/red')
    translator.settle()
    await use()
    assert.equal(await statusOf('/team/red/1'), 404)
    assert.equal(await statusOf('/team/blue'), 200)
    translator.drop('HTTPRoute', 'shop/blue')
    translator.settle()
    await use()
    assert.equal(await statusOf('/team/blue'), 500)
    assert.equal(await statusOf('/elsewhere'), 200)
  })
})
