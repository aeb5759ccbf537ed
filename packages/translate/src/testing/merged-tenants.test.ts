import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { request } from '../../../gateway/src/testing/client.ts'
import { TestGateway } from '../../../gateway/src/testing/gateway.ts'
import { useOrigin } from '../../../gateway/src/testing/scene.ts'
import type { Resource } from '../resources/resource.ts'
import type { GatewayStatus } from '../resources/status.ts'
import type { Translator } from '../translator.ts'
import { translateAll } from './golden.ts'
import {
  gatewayPolicy,
  HARMLESS,
  MERGED_PLANE,
  mergedClass,
  mergedTenant,
  type MergedListener,
  TENANT_FAULTS,
} from './tenants.ts'

const PORTS = [80, 8080] as const
const FRONTENDS: Readonly<Record<string, object>> = {
  none: {},
  network: { frontend: { networkAuthorization: { policy: { matchExpressions: ['source.address == "127.0.0.1"'] } } } },
  nobody: { frontend: { networkAuthorization: { action: 'Deny', policy: { matchExpressions: ['source.port > 0'] } } } },
  headers: { traffic: { headerModifiers: { response: { set: [{ name: 'x-gateway', value: 'set' }] } } } },
  denial: {
    traffic: { authorization: { action: 'Deny', policy: { matchExpressions: ['request.path == "/denied"'] } } },
  },
  log: { frontend: { accessLog: { attributes: { remove: ['http.path'] } } } },
}

function translate(resources: readonly Resource[]): Translator {
  const translator = translateAll(resources)
  translator.findQuarantined(translator.gateways.keys())
  return translator
}

/** Serves the shared data plane over real sockets; ports are those of the sockets, by port of the listeners. */
async function serve(
  t: Pick<TestContext, 'after'>,
  { gateways }: Translator,
): Promise<{ gateway: TestGateway; ports: Map<number, number> }> {
  const ir = gateways.get(MERGED_PLANE) ?? assert.fail('there is no config')
  const gateway = new TestGateway({})
  t.after(() => gateway.close())
  await gateway.use({ ...ir, binds: ir.binds.map((bind) => ({ ...bind, port: 0 })) })
  return { gateway, ports: new Map(ir.binds.map(({ port }, index) => [port, gateway.port(index)])) }
}

/** The responses that clients of a tenant get, and the statuses of its resources. */
async function seenBy(
  tenant: string,
  resources: readonly Resource[],
  listeners: readonly MergedListener[],
): Promise<unknown[]> {
  const closing: (() => Promise<void> | void)[] = []
  const after = (close: unknown): void => void closing.push(close as () => void)
  const translator = translate(resources)
  const { ports } = await serve({ after }, translator)
  const found: unknown[] = []
  for (const { port, hostname } of listeners) {
    const at = ports.get(port)
    for (const path of ['/', '/denied']) {
      if (at === undefined) continue
      const { status, body, headers } = await request(at, { path, headers: { host: hostname } })
      found.push([port, hostname, path, status, body, headers['x-tenant'], headers['x-gateway']])
    }
  }
  for (const close of closing) await close()
  // Gateways share the memory for keys, and reports stop on ports that others use too.
  const said = JSON.stringify([...translator.statuses].filter(([id]) => id.split('/')[1] === tenant))
    .replaceAll(/reduced to \d+ keys/g, 'reduced')
    .replaceAll(/; spec\.frontend\.accessLog: has no effect on port [^;]*; set it in [^";]*/g, '')
    .replaceAll('PartiallyValid', 'Valid')
  return [found, said]
}

describe('tenants with Gateways that share a data plane', () => {
  const host = (tenant: string) => fc.constantFrom(`${tenant}.test`, `x.${tenant}.test`, 'both.test')
  const listenersOf = (tenant: string) =>
    fc.uniqueArray(fc.record({ port: fc.constantFrom(...PORTS), hostname: host(tenant) }), {
      minLength: 1,
      maxLength: 3,
      selector: ({ port, hostname }) => `${port} ${hostname}`,
    })
  const faults = fc.option(fc.constantFrom(...Object.keys(TENANT_FAULTS)), { freq: 1 })
  const harmless = fc.constantFrom(...Object.keys(HARMLESS))
  const frontends = fc.constantFrom(...Object.keys(FRONTENDS))
  const tenants = (name: string) =>
    fc.record({ listeners: listenersOf(name), fault: faults, extra: harmless, frontend: frontends })

  it('do not change what the other gets, except for listeners that the older one has won', async (t) => {
    const origin = await useOrigin(t)
    await fc.assert(
      fc.asyncProperty(tenants('a'), tenants('b'), async (a, b) => {
        const of = (name: string, year: number, { listeners, fault, extra, frontend }: typeof a): Resource[] => [
          ...mergedTenant(name, { year, port: origin.port, listeners, fault, harmless: extra }),
          ...(frontend === 'none' ? [] : [gatewayPolicy(name, FRONTENDS[frontend] ?? {})]),
        ]
        const [ofA, ofB] = [of('a', 2025, a), of('b', 2026, b)]
        const together = [...mergedClass(), ...ofA, ...ofB]
        // The older tenant does not notice the newer one at all.
        assert.deepEqual(
          await seenBy('a', together, a.listeners),
          await seenBy('a', [...mergedClass(), ...ofA], a.listeners),
        )
        // The newer tenant loses the listeners that its status names, and nothing else.
        const status = translate(together).statuses.get('Gateway/b/web') as GatewayStatus
        const lost = new Set(
          status.listeners
            .filter(({ conditions }) =>
              conditions.some(({ type, status: is }) => type === 'Accepted' && is === 'False'),
            )
            .map(({ name }) => name),
        )
        for (const { conditions } of status.listeners.filter(({ name }) => lost.has(name))) {
          assert.match(conditions.map(({ message }) => message).join(), /Gateway a\/web/)
        }
        const left = b.listeners.filter((_, index) => !lost.has(`l${index}`))
        const alone = of('b', 2026, { ...b, listeners: left })
        const [got] = await seenBy('b', together, left)
        if (left.length > 0) assert.deepEqual(got, (await seenBy('b', [...mergedClass(), ...alone], left))[0])
      }),
      { numRuns: 100, seed: 25 },
    )
  })
})
