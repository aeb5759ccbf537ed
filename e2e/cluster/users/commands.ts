import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { parse } from 'yaml'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { pods, route } from '../shop.ts'
import { type Cluster, PATIENCE_MS } from './cluster.ts'

const PAGE = new URL('../../../docs/porticoctl.md', import.meta.url)

/** porticoctl before a real controller, as its page shows it. */
export function commands(cluster: () => Cluster): void {
  it('status says what is wrong with a route in the words of the page, and nothing when it is mended', async () => {
    const { bed } = cluster()
    await bed.apply(
      ...pods('orders', { replicas: 1, service: { ports: [{ port: 80, targetPort: 3000 }] } }),
      orders('order'),
    )
    await eventually(
      'it is told',
      async () => (await cluster().condition('orders', 'ResolvedRefs')) === 'False BackendNotFound',
      PATIENCE_MS,
    )
    const status = () => cluster().porticoctl('status', 'httproute/orders', '-n', 'shop')
    const broken = await status()
    assert.equal(broken.code, 1, broken.stderr)
    assert.equal(broken.stdout, sampleAfter('$ porticoctl status httproute/orders -n shop\n'))
    await bed.apply(orders('orders'))
    await eventually('it is mended', async () => (await status()).code === 0, PATIENCE_MS)
    assert.match((await status()).stdout, /^HTTPRoute shop\/orders: /)
  })

  it('effective shows what the page shows', async () => {
    const { bed } = cluster()
    await bed.apply(orders('orders'), BROWSERS)
    const effective = async (): Promise<object> => {
      const { code, stdout, stderr } = await cluster().porticoctl(
        'effective',
        'gateway/web',
        '-n',
        'shop',
        '--route',
        'orders',
      )
      assert.equal(code, 0, stderr)
      return parse(stdout) as object
    }
    await eventually('the policy holds', async () => /cors/.test(JSON.stringify(await effective())), PATIENCE_MS)
    const [, sample = assert.fail('no sample')] =
      /```yaml\n(gateway: Pod [^]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? []
    const named = { gateway: 'Pod shop/web-x', generation: 0 }
    assert.partialDeepStrictEqual({ ...(await effective()), ...named }, { ...(parse(sample) as object), ...named })
    assert.match(JSON.stringify(await effective()), /"gateway":"Pod shop\/web-[\w-]+".*"generation":\d+/)
  })

  it('explain names the resource that refused a request, and the field in it', async () => {
    const { bed } = cluster()
    await bed.apply(orders('orders'), TEAMS)
    await cluster().answers('/orders', 403)
    const refused = await cluster().ask('/orders', { 'x-team': 'c' })
    assert.equal(refused.status, 403)
    const id = refused.headers.get('x-portico-decision') ?? assert.fail('the refusal has no id')
    const { code, stdout, stderr } = await cluster().porticoctl('explain', id, 'gateway/web', '-n', 'shop')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /▸ GwPolicy shop\/teams spec\.traffic\.authorization\.policy\.matchExpressions\[0\]$/m)
    assert.match(stdout, /x-team.*"c"/)
    await bed.kubectl('-n', 'shop', 'delete', 'gwpolicy', 'teams')
    await cluster().answers('/orders', 200)
    // Without a rule, it is the route that is named: of its own kind.
    await bed.apply(orders('nobody'))
    await cluster().answers('/orders', 500)
    const failed = await cluster().ask('/orders')
    const failure = failed.headers.get('x-portico-decision') ?? assert.fail('the failure has no id')
    const explained = await cluster().porticoctl('explain', failure, 'gateway/web', '-n', 'shop')
    assert.match(explained.stdout, /HTTPRoute shop\/orders spec\.rules\[0\]/, explained.stderr)
    await bed.apply(orders('orders'))
  })
}

const TEAMS = {
  apiVersion: 'portico.dev/v1alpha1',
  kind: 'GwPolicy',
  metadata: { name: 'teams', namespace: 'shop' },
  spec: {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'orders' }],
    traffic: {
      authorization: { action: 'Allow', policy: { matchExpressions: ['request.headers["x-team"] in ["a", "b"]'] } },
    },
  },
}

function sampleAfter(line: string): string {
  const page = readFileSync(PAGE, 'utf8')
  const from = page.indexOf(line) + line.length
  assert.ok(from >= line.length, `the page has no ${line}`)
  return page.slice(from, page.indexOf('```', from))
}

function orders(service: string): object {
  const { spec, ...rest } = route('orders', '/orders', service)
  const backendRefs = [{ name: service, port: 80 }]
  return { ...rest, spec: { ...spec, rules: spec.rules.map((rule) => ({ ...rule, backendRefs })) } }
}

const BROWSERS = {
  apiVersion: 'portico.dev/v1alpha1',
  kind: 'GwPolicy',
  metadata: { name: 'browsers', namespace: 'shop' },
  spec: {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'orders' }],
    traffic: { cors: { allowOrigins: ['https://shop.example'] } },
  },
}
