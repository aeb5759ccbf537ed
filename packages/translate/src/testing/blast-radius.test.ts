import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { request } from '../../../gateway/src/testing/client.ts'
import { TestGateway } from '../../../gateway/src/testing/gateway.ts'
import { useOrigin } from '../../../gateway/src/testing/scene.ts'
import type { Resource } from '../resources/resource.ts'
import type { Translator } from '../translator.ts'
import { translateAll } from './golden.ts'
import { TENANT_FAULTS, GATEWAY, HARMLESS, sharedGateway, tenantWith } from './tenants.ts'

function translate(resources: readonly Resource[]): Translator {
  const translator = translateAll(resources)
  translator.findQuarantined(translator.gateways.keys())
  return translator
}

/** Serves the shared Gateway over real sockets. */
async function serve(t: Pick<TestContext, 'after'>, { gateways }: Translator): Promise<TestGateway> {
  const ir = gateways.get(GATEWAY) ?? assert.fail('there is no config')
  const gateway = new TestGateway({})
  t.after(() => gateway.close())
  await gateway.use({ ...ir, binds: ir.binds.map((bind) => ({ ...bind, port: 0 })) })
  return gateway
}

async function ask(gateway: TestGateway, tenant: string, path = '/'): Promise<unknown[]> {
  const { status, body, headers } = await request(gateway.port(), { path, headers: { host: `${tenant}.test` } })
  return [status, body, headers['x-tenant']]
}

const saidOf = ({ statuses }: Translator, namespace: string): string =>
  JSON.stringify([...statuses].filter(([id]) => id.split('/')[1] === namespace))

describe('a resource that cannot be compiled', () => {
  for (const [name, { says }] of Object.entries(TENANT_FAULTS)) {
    it(`is closed alone and named in its own status: ${name}`, async (t) => {
      const origin = await useOrigin(t)
      const resources = [
        ...sharedGateway(),
        ...tenantWith('a', origin.port, name, 'nothing'),
        ...tenantWith('b', origin.port, null, 'a denial'),
      ]
      const translator = translate(resources)
      assert.match(saidOf(translator, 'a').replaceAll('\\"', '"'), says)
      assert.match(saidOf(translator, 'a'), /"status":"False"|PartiallyValid|PartiallyInvalid/)
      assert.doesNotMatch(saidOf(translator, 'b'), /Quarantined|Partially/)
      const gateway = await serve(t, translator)
      const [status] = await ask(gateway, 'a')
      assert.ok([500, 503, 403, 401].includes(Number(status)), String(status))
      assert.equal(origin.seen.length, 0)
      assert.equal((await ask(gateway, 'b'))[0], 200)
      assert.equal((await ask(gateway, 'b', '/denied'))[0], 403)
    })
  }
})

it('a policy of the Gateway that only reports is left out, named in its status, and blocks no request', async (t) => {
  const origin = await useOrigin(t)
  const log = {
    apiVersion: 'portico.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { namespace: 'infra', name: 'log', generation: 1 },
    spec: {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'edge' }],
      frontend: {
        accessLog: {
          otlp: { backendRef: { group: 'portico.dev', kind: 'GwBackend', name: 'c' }, protocol: 'GRPC', path: '/x' },
        },
      },
    },
  } as unknown as Resource
  const translator = translate([...sharedGateway(), log, ...tenantWith('b', origin.port, null, 'nothing')])
  assert.match(saidOf(translator, 'infra'), /accessLog/)
  assert.equal((await ask(await serve(t, translator), 'b'))[0], 200)
})

it('the resources of one tenant do not change what another gets', async (t) => {
  const origin = await useOrigin(t)
  const deeds = fc.option(fc.constantFrom(...Object.keys(TENANT_FAULTS)))
  const harmless = fc.constantFrom(...Object.keys(HARMLESS))
  await fc.assert(
    fc.asyncProperty(deeds, harmless, deeds, harmless, async (deedOfA, extraOfA, deedOfB, extraOfB) => {
      const ofB = [...sharedGateway(), ...tenantWith('b', origin.port, deedOfB, extraOfB)]
      const answers = async (resources: readonly Resource[]): Promise<unknown[]> => {
        const closing: (() => Promise<void> | void)[] = []
        const after = (close: unknown): void => void closing.push(close as () => void)
        const translator = translate(resources)
        const gateway = await serve({ after }, translator)
        // Namespaces share the memory for keys, so the size of a limit depends on the others.
        const said = saidOf(translator, 'b').replaceAll(/reduced to \d+ keys/g, 'reduced to its share of keys')
        const found = [await ask(gateway, 'b'), await ask(gateway, 'b', '/denied'), said]
        for (const close of closing) await close()
        return found
      }
      const alone = await answers(ofB)
      const together = await answers([...ofB, ...tenantWith('a', origin.port, deedOfA, extraOfA)])
      assert.deepEqual(together, alone)
    }),
    { numRuns: 30, seed: 23 },
  )
})
