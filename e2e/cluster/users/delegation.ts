import assert from 'node:assert/strict'
import { it } from 'node:test'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { type Cluster, PATIENCE_MS } from './cluster.ts'

const GROUP = 'gateway.networking.k8s.io'

function httpRoute(namespace: string, name: string, spec: object) {
  return { apiVersion: `${GROUP}/v1`, kind: 'HTTPRoute', metadata: { namespace, name }, spec }
}

/** Routes of other teams below a route, and filters of single rules. */
export function delegation(cluster: () => Cluster): void {
  it('a route delegates to a route of another namespace, under its own filter, once that namespace allows it', async () => {
    const { bed } = cluster()
    const isSaid = (route: string, type: string, expected: string, namespace?: string): Promise<void> =>
      eventually(
        `${route}: ${type} is ${expected}`,
        async () => (await cluster().condition(route, type, namespace)) === expected,
        PATIENCE_MS,
      )
    const filter = { group: 'portico.dev', kind: 'GwFilter', name: 'no-secrets' }
    await bed.apply(
      {
        apiVersion: 'portico.dev/v1alpha1',
        kind: 'GwFilter',
        metadata: { namespace: 'shop', name: 'no-secrets' },
        spec: {
          traffic: {
            authorization: { action: 'Deny', policy: { matchExpressions: ['request.path.endsWith("/secret")'] } },
          },
        },
      },
      httpRoute('shop', 'teams', {
        parentRefs: [{ name: 'web' }],
        rules: [
          {
            matches: [{ path: { value: '/team' } }],
            filters: [{ type: 'ExtensionRef', extensionRef: filter }],
            backendRefs: [{ group: GROUP, kind: 'HTTPRoute', namespace: 'bank', name: 'team-ledger' }],
          },
        ],
      }),
      httpRoute('bank', 'team-ledger', {
        parentRefs: [{ group: GROUP, kind: 'HTTPRoute', namespace: 'shop', name: 'teams' }],
        rules: [{ matches: [{ path: { value: '/team/ledger' } }], backendRefs: [{ name: 'ledger', port: 8080 }] }],
      }),
    )
    await isSaid('teams', 'ResolvedRefs', 'False RefNotPermitted')
    await isSaid('team-ledger', 'Accepted', 'False NoMatchingParent', 'bank')
    await cluster().answers('/team/ledger', 500)
    await bed.apply({
      apiVersion: `${GROUP}/v1beta1`,
      kind: 'ReferenceGrant',
      metadata: { namespace: 'bank', name: 'delegation' },
      spec: {
        from: [{ group: GROUP, kind: 'HTTPRoute', namespace: 'shop' }],
        to: [{ group: GROUP, kind: 'HTTPRoute' }],
      },
    })
    await isSaid('teams', 'ResolvedRefs', 'True ResolvedRefs')
    await isSaid('team-ledger', 'Accepted', 'True Accepted', 'bank')
    await cluster().answers('/team/ledger', 200)
    assert.match((await cluster().ask('/team/ledger')).pod, /^ledger-/)
    // The filter of the parent holds, and requests that no child matches reach no other route.
    await cluster().answers('/team/ledger/secret', 403)
    await cluster().answers('/team/other', 404)
    const attached = `.status.ancestors[0].conditions[?(@.type=="Attached")].status`
    assert.equal(await cluster().field('shop', 'gwfilter/no-secrets', attached), 'True')
    const shown = await cluster().porticoctl('effective', 'gateway/web', '-n', 'shop', '--route', 'team-ledger')
    assert.match(shown.stdout, /within:\n\s+- shop\/teams/)
    assert.match(shown.stdout, /from: filter shop\/no-secrets/)
    await bed.kubectl('-n', 'shop', 'delete', 'gwfilter', 'no-secrets')
    await isSaid('teams', 'ResolvedRefs', 'False BackendNotFound')
    await cluster().answers('/team/ledger', 500)
    await bed.kubectl('-n', 'shop', 'delete', 'httproute', 'teams')
  })
}
