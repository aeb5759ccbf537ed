import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { gatewayChecks } from '../../../ctl/src/import/gateway-checks.ts'
import type { ImportedConfig } from '../core/import-result.ts'
import { importAgentgateway } from './import-agentgateway.ts'
import { some } from './testing/policies.ts'

function imported(config: unknown): ImportedConfig {
  const source = { name: 'config.yaml', text: stringify(config) }
  const result = importAgentgateway([source], () => 'there is no such file', gatewayChecks)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value
}

interface PrintedRoute {
  name: string
  policies?: Record<string, { status?: number }>
  backends?: object[]
}

/** Imports a config with one listener, and returns the imported routes of this listener. */
function routesOf(...routes: object[]): PrintedRoute[] {
  const { config } = imported({ binds: [{ port: 3000, listeners: [{ routes }] }] })
  return (config as { binds: { listeners: { routes: PrintedRoute[] }[] }[] }).binds[0]?.listeners[0]?.routes ?? []
}

const backends = [{ host: '127.0.0.1:9000' }]

/** Policies that restrict access, each with all of its required fields. */
const PROTECTIONS: Readonly<Record<string, object>> = {
  jwtAuth: { mode: 'strict', issuer: 'https://i.test/', jwks: { url: 'https://i.test/keys' } },
  mcpAuthentication: { issuer: 'https://i.test/', jwks: { url: 'https://i.test/keys' } },
  basicAuth: { realm: 'a', htpasswd: 'u:{SHA}qUqP5cyxm6YcTAhz05Hph5gvu9M=' },
  apiKey: { mode: 'strict', keys: [{ key: 'k-alice-5c7d10e9' }] },
  authorization: { rules: [{ allow: 'jwt.sub == "a"' }] },
  mcpAuthorization: { rules: [{ deny: 'mcp.tool.name == "a"' }] },
  extAuthz: { host: '127.0.0.1:9001', protocol: { grpc: { context: { a: 'b' } } } },
  localRateLimit: [{ maxTokens: 5, tokensPerFill: 5, fillInterval: '1s' }],
  remoteRateLimit: { host: '127.0.0.1:9001', domain: 'a', descriptors: [{ entries: [{ key: 'a', value: '"b"' }] }] },
  csrf: { additionalOrigins: ['https://a.test'] },
  backendTLS: { hostname: 'a.test' },
  ai: { promptGuard: { request: [{ regex: { rules: [{ builtin: 'email' }] } }] } },
}

/**
 * Returns the mappings within a policy in which the test can add an unknown field. `context` is left out, because its
 * member names are free.
 */
function mappingsOf(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.entries(value).flatMap(([name, member]) => (name === 'context' ? [] : mappingsOf(member)))
  return Array.isArray(value) ? below : [value as Record<string, unknown>, ...below]
}

test('policies that protect are carried, and close their route when a field of them is unknown', () => {
  for (const [name, policy] of Object.entries(PROTECTIONS)) {
    const [route] = routesOf({ name: 'a', policies: { [name]: policy }, backends })
    assert.equal(route?.policies?.['directResponse'], undefined, name)
    assert.notEqual(Object.keys(route?.policies ?? {}).length, 0, name)
  }
  fc.assert(
    fc.property(some(...Object.keys(PROTECTIONS)), fc.nat(), (name, index) => {
      const policy: unknown = structuredClone(PROTECTIONS[name])
      const places = mappingsOf(policy)
      const place = places[index % places.length] ?? assert.fail('no mapping')
      place['zzz'] = 1
      const [route] = routesOf({ name: 'a', policies: { [name]: policy }, backends })
      assert.equal(route?.policies?.['directResponse']?.status, 403)
      assert.equal(route?.backends, undefined)
    }),
    { numRuns: 200 },
  )
})

test('a limit never admits more than the one of the source', () => {
  const seconds = { Seconds: 1, Minutes: 60, Hours: 3_600 }
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.integer({ min: 0, max: 5_000 }),
      fc.integer({ min: 1, max: 200_000 }),
      (fill, more, interval) => {
        const limit = { maxTokens: fill + more, tokensPerFill: fill, fillInterval: `${interval}s` }
        const [route] = routesOf({ name: 'a', policies: { localRateLimit: [limit] }, backends })
        const policy = route?.policies?.['rateLimit'] as
          | { local: { requests: number; unit: keyof typeof seconds; burst?: number }[] }
          | undefined
        if (policy === undefined) return assert.equal(route?.policies?.['directResponse']?.status, 403)
        const [{ requests, unit, burst = 0 } = assert.fail('no limit')] = policy.local
        assert.equal(requests + burst, fill + more)
        assert.ok(requests / seconds[unit] <= fill / interval + 1e-9)
        assert.ok(seconds[unit] <= interval)
      },
    ),
    { numRuns: 300 },
  )
})

test('routes that match equally well are in the order of their names, and others in that of the file', () => {
  const match = (pathPrefix: string) => ({ matches: [{ path: { pathPrefix } }], backends })
  const names = (...routes: object[]) => routesOf(...routes).map(({ name }) => name)
  assert.deepEqual(names({ name: 'b', ...match('/a') }, { name: 'a', ...match('/a') }), ['a', 'b'])
  assert.deepEqual(names({ name: 'b', ...match('/a') }, { name: 'a', ...match('/b') }), ['b', 'a'])
})

test('authentication without a mode is optional', () => {
  const [route] = routesOf({ policies: { apiKey: { keys: [{ key: 'k-alice-5c7d10e9' }] } }, backends })
  assert.equal((route?.policies?.['apiKeyAuthentication'] as { mode?: string } | undefined)?.mode, 'Optional')
})

test('variables become variables, with their defaults, and other texts with $ stay as they are', () => {
  const { config, behavior } = imported({
    binds: [
      {
        port: '$PORT',
        listeners: [{ routes: [{ backends: [{ host: '${HOST:-a.test}:80' }, { host: 'b.test:80' }] }] }],
      },
    ],
  })
  assert.deepEqual(Object.keys(behavior.env), ['PORT', 'HOST'])
  assert.match(JSON.stringify(config), /\$\{HOST:-a\.test\}:80/)
})

test('rules of a listener hold beside those of policies that name it', () => {
  const rule = (rules: string[]) => ({ authorization: { rules } })
  const target = { gateway: { gatewayName: 'default', gatewayNamespace: 'default' } }
  const { config } = imported({
    binds: [{ port: 3000, listeners: [{ policies: rule(['jwt.a == "a"']), routes: [{ backends }] }] }],
    policies: [{ target, phase: 'gateway', policy: { authorization: { rules: [{ deny: 'jwt.b == "b"' }] } } }],
  })
  assert.match(JSON.stringify(config), /"phase":"PreRouting","authorization":\{"rules":\[[^\]]*jwt\.a[^\]]*jwt\.b/)
})

test('a target with the name of a virtual model closes the virtual model, also where a pattern fits the name', () => {
  const weighted = { weighted: { targets: [{ model: 'one', weight: 1 }] } }
  const { config, report } = imported({
    llm: { models: [{ name: '*', provider: 'openAI' }], virtualModels: [{ name: 'one', routing: weighted }] },
  })
  const { models } = (config as { llm: { models: { name: string; targets?: object[]; allow?: string }[] } }).llm
  assert.deepEqual(
    models.map(({ name, targets, allow }) => ({ name, targets, allow })),
    [
      { name: '*', targets: undefined, allow: undefined },
      { name: 'one', targets: undefined, allow: 'false' },
    ],
  )
  const entry = report.find(({ name }) => name.endsWith('targets[0].model'))
  assert.equal(entry?.verdict, 'not carried')
  assert.match(entry?.note ?? '', /the target must be a model that is not a virtual model/)
})

test('a virtual model with the name of a model is not carried', () => {
  const weighted = { weighted: { targets: [{ model: 'two', weight: 1 }] } }
  const models = [
    { name: 'one', provider: 'openAI' },
    { name: 'two', provider: 'openAI' },
  ]
  const { config, report } = imported({ llm: { models, virtualModels: [{ name: 'one', routing: weighted }] } })
  const printed = (config as { llm: { models: { name: string; targets?: object[] }[] } }).llm.models
  assert.deepEqual(
    printed.map(({ name, targets }) => ({ name, targets })),
    [
      { name: 'one', targets: undefined },
      { name: 'two', targets: undefined },
    ],
  )
  const entry = report.find(({ name }) => name === 'llm.virtualModels[0]')
  assert.equal(entry?.verdict, 'not carried')
})

test('a route of TCP whose backend has no address closes its listener', () => {
  const named = [
    { name: 'any', dynamic: {} },
    { name: 'fixed', host: '127.0.0.1:9000' },
  ]
  const countOf = (backend: object): number | undefined => {
    const listeners = [{ protocol: 'TCP', tcpRoutes: [{ backends: [backend] }] }]
    const { config } = imported({ backends: named, binds: [{ port: 3000, listeners }] })
    return (config as { binds: { listeners: { routes?: object[] }[] }[] }).binds[0]?.listeners[0]?.routes?.length ?? 0
  }
  assert.equal(countOf({ dynamic: {} }), 0)
  assert.equal(countOf({ backend: '/any' }), 0)
  assert.equal(countOf({ backend: '/fixed' }), 1)
  assert.equal(countOf({ host: '127.0.0.1:9000' }), 1)
})

test('several routes of a TCP listener close it, and those of a TLS listener have names of their own', () => {
  const backends = [{ host: '127.0.0.1:9000' }]
  const namesOf = (protocol: string): string[] => {
    const tcpRoutes = ['a.test', 'b.test'].map((name) => ({ name: 'one', hostnames: [name], backends }))
    const { config } = imported({ binds: [{ port: 3000, listeners: [{ protocol, tcpRoutes }] }] })
    const [bind] = (config as { binds: { listeners: { routes?: { name: string }[] }[] }[] }).binds
    return (bind?.listeners[0]?.routes ?? []).map(({ name }) => name)
  }
  assert.deepEqual(namesOf('TCP'), [])
  assert.deepEqual(namesOf('TLS'), ['one', 'one-1'])
})
