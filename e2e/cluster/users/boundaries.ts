import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { it } from 'node:test'
import { PEERS_PATH } from '../../../packages/controller/src/peers/peer-messages.ts'
import { StreamClient } from '../../../packages/controller/src/testing/stream-client.ts'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import type { Bed } from '../bed/bed.ts'
import { API_SERVICE_ADDRESS } from '../bed/kubelet/node-settings.ts'
import { grant, route } from '../shop.ts'
import { type Cluster, PATIENCE_MS, SYSTEM, WEB } from './cluster.ts'

const TOKEN_FILE = '/var/run/secrets/portico/token'

/** Boundaries between tenants, and between data planes and the cluster. */
export function boundaries(cluster: () => Cluster): void {
  it('the token of a data plane opens the stream of its own Gateway alone, and nothing of the API server', async () => {
    const { bed } = cluster()
    const [pod = ''] = await cluster().podsOf('shop', WEB)
    const token = (await bed.kubectl('-n', 'shop', 'exec', pod, '--', 'cat', TOKEN_FILE)).trim()
    const ca = await cluster().field('shop', 'configmap/web', `.data['controller-ca\\.crt']`)
    const address = await cluster().field(SYSTEM, 'service/portico-controller', '.spec.clusterIP')
    const port = await bed.reach(address, 9978)
    const statusFor = async (gateway: string): Promise<unknown[]> => {
      const client = new StreamClient({ port, ca, token, servername: `portico-controller.${SYSTEM}.svc` })
      client.hello({ gateway, instance: 'thief' })
      await client.until(() => client.status !== undefined && (client.status !== 200 || client.of('config').length > 0))
      client.close()
      return [client.status, client.of('config').length]
    }
    assert.deepEqual(await statusFor('shop/web'), [200, 1])
    for (const gateway of ['bank/safe', 'shop/safe', 'bank/web', 'shop/none']) {
      assert.deepEqual(await statusFor(gateway), [403, 0], gateway)
    }
    const api = await bed.exec([
      'curl',
      '-sk',
      '-H',
      `authorization: Bearer ${token}`,
      `https://${API_SERVICE_ADDRESS}/api`,
    ])
    assert.match(api.stdout, /"code": 401/)
    const asPeer = new StreamClient({
      port,
      ca,
      token,
      path: PEERS_PATH,
      servername: `portico-controller.${SYSTEM}.svc`,
    })
    await asPeer.ended()
    assert.notEqual(asPeer.status, 200)
    assert.deepEqual(asPeer.messages, [])
    const audience = '.spec.volumes[*].projected.sources[*].serviceAccountToken.audience'
    assert.equal(await cluster().field('shop', `pod/${pod}`, audience), 'portico')
    assert.equal(await cluster().field('shop', 'serviceaccount/web', '.automountServiceAccountToken'), 'false')
  })

  it('nothing leads into another namespace without a grant of that, and the status says so', async () => {
    const { bed } = cluster()
    await bed.apply(route('ledger', '/ledger', 'ledger', { in: 'bank' }))
    const isSaid = (expected: string) =>
      eventually(expected, async () => (await cluster().condition('ledger', 'ResolvedRefs')) === expected, PATIENCE_MS)
    await isSaid('False RefNotPermitted')
    await cluster().answers('/ledger', 500)
    await bed.apply(grant('shop', 'bank'))
    await isSaid('True ResolvedRefs')
    await cluster().answers('/ledger', 200)
    await bed.kubectl('-n', 'bank', 'delete', 'referencegrant', 'from-shop')
    await isSaid('False RefNotPermitted')
    await cluster().answers('/ledger', 500)
    // A route of another namespace is not taken by a Gateway that takes those of its own.
    const intruder = route('intruder', '/intruder', 'ledger', { namespace: 'bank' })
    const parentRefs = [{ name: 'web', namespace: 'shop' }]
    await bed.apply({ ...intruder, spec: { ...intruder.spec, parentRefs } })
    const accepted = (): Promise<string> => cluster().condition('intruder', 'Accepted', 'bank')
    await eventually('it is told', async () => (await accepted()) === 'False NotAllowedByListeners', PATIENCE_MS)
    assert.match((await cluster().ask('/intruder')).pod, /^cart-/)
  })

  it('a GwBackend may lead to the API server or to metadata, where a data plane is nobody, and requests may not', async () => {
    const { bed } = cluster()
    const end = await serveMetadata(bed)
    const tls = { insecureSkipVerify: 'All' }
    await bed.apply(
      backend('api', { static: { host: API_SERVICE_ADDRESS, port: 443 }, policies: { tls } }),
      backend('metadata', { static: { host: METADATA, port: 80 } }),
      backend('proxy', { dynamicForwardProxy: { ports: [] } }),
      ...['api', 'metadata', 'proxy'].map((name) => toBackend(name)),
    )
    await cluster().answers('/api', 403)
    assert.match((await cluster().ask('/api/v1/secrets')).text, /system:anonymous/)
    await cluster().answers('/metadata', 200)
    const heard = JSON.parse((await cluster().ask('/metadata')).text) as Record<string, string>
    assert.deepEqual(
      Object.keys(heard).filter((name) => /auth|token|cookie/.test(name)),
      [],
    )
    for (const [host, why] of [
      [METADATA, 'a cloud metadata address'],
      [`${API_SERVICE_ADDRESS}:443`, 'a private address'],
    ] as const) {
      const refused = await askFor(host, '/proxy')
      assert.deepEqual(refused, { status: 403, text: `destination refused: ${why}` })
      // On other routes the name of a host is a name and no more.
      assert.match((await askFor(host, '/')).text, /"pod":"cart-/)
    }
    const program = { targets: [{ name: 'sh', stdio: { command: 'sh' } }] }
    await assert.rejects(bed.apply(backend('program', { mcp: program })), /stdio/)
    end()
  })

  async function askFor(host: string, path: string): Promise<{ status: number; text: string }> {
    const port = await cluster().port()
    return new Promise((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', path, headers: { host }, agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text: text.trim() }))
      })
      sent.on('error', reject).end()
    })
  }
}

const METADATA = '169.254.169.254'

/** As clouds have it: says what it was asked with. */
async function serveMetadata(bed: Bed): Promise<() => void> {
  await bed.exec(['ip', 'addr', 'add', `${METADATA}/32`, 'dev', 'lo'])
  const script = `require('http').createServer((request, response) => response.end(JSON.stringify(request.headers))).listen(80, '${METADATA}')
process.stdin.on('end', () => process.exit()).resume()`
  const [program = '', ...args] = bed.enter([process.execPath, '-e', script])
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'inherit'] })
  return () => void child.stdin.end()
}

export function backend(name: string, spec: object): object {
  return { apiVersion: 'portico.dev/v1alpha1', kind: 'GwBackend', metadata: { name, namespace: 'shop' }, spec }
}

/** `/<name>` leads to the GwBackend of that name. */
export function toBackend(name: string): object {
  const { spec, ...rest } = route(name, `/${name}`)
  const backendRefs = [{ group: 'portico.dev', kind: 'GwBackend', name }]
  return { ...rest, spec: { ...spec, rules: spec.rules.map((rule) => ({ ...rule, backendRefs })) } }
}
