import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { selectorOf } from '../../packages/controller/src/deploy/selector.ts'
import { PortForward } from '../../packages/controller/src/kube/index.ts'
import { patchStatus } from '../../packages/controller/src/kube/objects.ts'
import { skipWithout } from '../../packages/ctl/src/testing/installed.ts'
import { PROGRAM as CTL, runProgram, startProgram } from '../../packages/ctl/src/testing/program.ts'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { shippedProgram } from '../../packages/gateway/src/testing/shipped-program.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { KUBERNETES, withoutBed } from './bed/programs.ts'

const GATEWAY_PROGRAM = shippedProgram('gateway')
const PATIENCE_SECONDS = 300
const API = 'gateway.networking.k8s.io'

const gateway = {
  apiVersion: `${API}/v1`,
  kind: 'Gateway',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { gatewayClassName: 'portico', listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }] },
}
const redirect = {
  apiVersion: `${API}/v1`,
  kind: 'HTTPRoute',
  metadata: { name: 'away', namespace: 'shop' },
  spec: {
    parentRefs: [{ name: 'web' }],
    rules: [
      { filters: [{ type: 'RequestRedirect', requestRedirect: { hostname: 'elsewhere.example', statusCode: 302 } }] },
    ],
  },
}

/** Pods as they are deployed for a Gateway, with the config in a ConfigMap. */
function dataPlane(): object[] {
  const labels = selectorOf('web')
  const httpGet = { path: '/healthz/ready', port: 15_021 }
  const container = {
    name: 'portico',
    image: 'portico',
    args: ['-f', '/etc/portico'],
    env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    readinessProbe: { httpGet, periodSeconds: 1 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/portico', readOnly: true }],
  }
  const manifests = [gateway, redirect].map((each) => JSON.stringify(each)).join('\n---\n')
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'web', namespace: 'shop' },
      data: { 'manifests.yaml': manifests },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'shop', labels },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [container], volumes: [{ name: 'config', configMap: { name: 'web' } }] },
        },
      },
    },
  ]
}

interface Event {
  message: { type: string; selectedRoute?: string; requestState?: { env?: { podName?: string } } }
}

const eventsIn = (stdout: string): Event[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Event)

describe('porticoctl in a cluster', { skip: withoutBed }, () => {
  let bed: Bed
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'porticoctl-bed-'))
    bed = await startBed({ images: { portico: { command: [process.execPath, GATEWAY_PROGRAM] } } })
    await bed.kubectl('create', 'namespace', 'shop')
    await bed.apply(...dataPlane())
    await bed.kubectl('-n', 'shop', 'rollout', 'status', 'deployment/web', `--timeout=${PATIENCE_SECONDS}s`)
  })
  after(async () => {
    await bed.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const asAdmin = (...args: string[]): string[] => [...args, '-n', 'shop', '--kubeconfig', bed.kubeconfig]

  it('sends a request through a Pod and shows how it was decided', { skip: skipWithout('curl') }, async () => {
    const args = asAdmin('trace', 'gateway/web', '--raw', '--port', '8080')
    const { code, stdout, stderr } = await runProgram([...args, '--', 'http://a.example/x', '-i'])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^location: http:\/\/elsewhere\.example\/x\r?$/im)
    const selected = eventsIn(stdout).find(({ message }) => message.type === 'routeSelection')
    assert.equal(selected?.message.selectedRoute, 'bind/8080/http/shop/away/0')
  })

  it('reaches Pods over a WebSocket, which this API server takes', async () => {
    const pod = await bed.kubectl('-n', 'shop', 'get', 'pods', '-o', 'jsonpath={.items[0].metadata.name}')
    const forward = await PortForward.open(bed.client, { namespace: 'shop', pod })
    assert.equal(forward.form, 'WebSocket')
    const { stream, problem } = await forward.connect(15_021)
    stream.write('GET /healthz/ready HTTP/1.1\r\nhost: pod\r\n\r\n')
    const [answer] = (await once(stream, 'data')) as [Buffer]
    assert.match(answer.toString(), /^HTTP\/1\.1 200 /)
    stream.end()
    assert.equal(await problem, null)
    forward.close()
  })

  it('watches all Pods, and tells of the one that a client reaches', async () => {
    const listed = await bed.kubectl('-n', 'shop', 'get', 'pods', '-o', 'json')
    const { items } = JSON.parse(listed) as { items: { metadata: { name: string }; status: { podIP: string } }[] }
    assert.equal(items.length, 2)
    for (const { metadata, status } of items) {
      const program = startProgram(asAdmin('trace', 'gateway/web', '--raw'))
      await program.told('Gateway shop/web (2 Pods): waiting for the next request')
      await fetch(`http://127.0.0.1:${await bed.reach(status.podIP, 8080)}/y`, { redirect: 'manual' })
      const { code, stdout, stderr } = await program.ended
      assert.equal(code, 0, stderr)
      const names = eventsIn(stdout).flatMap(({ message }) => message.requestState?.env?.podName ?? [])
      assert.deepEqual([...new Set(names)], [metadata.name])
    }
  })

  it('shows which policies hold', async () => {
    const { code, stdout, stderr } = await runProgram(asAdmin('effective', 'gateway/web', '--route', 'away'))
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^gateway: Pod shop\/web-/)
    assert.match(stdout, /requestRedirect:\n +from: /)
  })

  it('needs the rights that the page names, and says which one is missing', async () => {
    const page = readFileSync(new URL('../../docs/porticoctl.md', import.meta.url), 'utf8')
    const [, role = assert.fail('the page has no Role')] = /```yaml\n(apiVersion: rbac[^]*?)```/.exec(page) ?? []
    await bed.kubectl('-n', 'shop', 'create', 'serviceaccount', 'ann')
    const token = (await bed.kubectl('-n', 'shop', 'create', 'token', 'ann')).trim()
    const cluster = { server: bed.server, 'certificate-authority-data': Buffer.from(bed.ca).toString('base64') }
    const kubeconfig = join(folder, 'ann')
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        'current-context': 'bed',
        clusters: [{ name: 'bed', cluster }],
        users: [{ name: 'ann', user: { token } }],
        contexts: [{ name: 'bed', context: { cluster: 'bed', user: 'ann', namespace: 'shop' } }],
      }),
    )
    const args = ['effective', 'gateway/web', '--kubeconfig', kubeconfig, '-o', 'json']
    assert.match((await runProgram(args)).stderr, /no right to list pods in namespace shop \(kubectl auth can-i/)
    await bed.apply(role.replace('[pods/portforward]', '[pods/log]'))
    const bind = ['create', 'rolebinding', 'ann', '--role=portico-trace', '--serviceaccount=shop:ann']
    await bed.kubectl('-n', 'shop', ...bind)
    let last = ''
    await eventually('the first right counts', async () => {
      last = (await runProgram(args)).stderr
      return !/list pods/.test(last)
    })
    assert.match(last, /no right to create pods\/portforward in namespace shop/)
    await bed.apply(role)
    await eventually('all rights count', async () => (await runProgram(args)).code === 0)
    assert.match(
      (await runProgram(['trace', 'gateway/wep', '--kubeconfig', bed.kubeconfig, '-n', 'shop'])).stderr,
      /there is no Gateway wep in namespace shop/,
    )
  })

  it('says what is wrong with a route in one answer, as the controller has written it', async () => {
    const gatewayClass = {
      apiVersion: `${API}/v1`,
      kind: 'GatewayClass',
      metadata: { name: 'portico' },
      spec: { controllerName: 'portico.dev/gateway' },
    }
    const orders = {
      apiVersion: `${API}/v1`,
      kind: 'HTTPRoute',
      metadata: { name: 'orders', namespace: 'shop' },
      spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'order', port: 80 }] }] },
    }
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'orders', namespace: 'shop' },
      spec: { selector: { app: 'orders' }, ports: [{ port: 80 }] },
    }
    await bed.apply(gatewayClass, gateway, orders, service)
    const status = async (...more: string[]) => runProgram(asAdmin('status', ...more))
    const before = await status('httproute/orders')
    assert.equal(before.code, 1, before.stderr)
    assert.match(before.stdout, /^HTTPRoute shop\/orders: broken at GatewayClass portico\n/)
    await writeStatuses(bed)
    const { code, stdout, stderr } = await status('httproute/orders')
    assert.equal(code, 1, stderr)
    assert.match(stdout, /^HTTPRoute shop\/orders: broken at HTTPRoute shop\/orders at Gateway shop\/web\n/)
    assert.match(stdout, / {2}ok +Gateway shop\/web +Accepted, Programmed\n/)
    assert.match(stdout, /BROKEN {2}Service shop\/order\n.*\n.*Did you mean orders\?\n/)
    await bed.kubectl('-n', 'shop', 'patch', 'httproute', 'orders', '--type=json', '-p', RENAME)
    assert.match(
      (await status('httproute/orders')).stdout,
      /has not processed its last change \(generation 2, seen 1\)/,
    )
  })

  it('is a plugin of kubectl', async () => {
    const programs = join(folder, 'bin')
    mkdirSync(programs)
    symlinkSync(CTL, join(programs, 'kubectl-portico'))
    const env = { PATH: [programs, process.env['PATH']].join(delimiter), KUBECONFIG: bed.kubeconfig }
    const kubectl = (...args: string[]) =>
      new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
        const child = execFile(join(KUBERNETES, 'kubectl'), args, { env }, (_error, stdout, stderr) =>
          resolve({ code: child.exitCode, stdout, stderr }),
        )
      })
    assert.match((await kubectl('plugin', 'list')).stdout, /kubectl-portico/)
    const { code, stdout, stderr } = await kubectl('portico', 'effective', 'gateway/web', '-n', 'shop', '-o', 'json')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^\{\n {2}"gateway": "Pod shop\/web-/)
    assert.equal((await kubectl('portico', 'status', 'nothing')).code, 2)
  })
})

const RENAME = JSON.stringify([{ op: 'replace', path: '/spec/rules/0/backendRefs/0/name', value: 'orders' }])

/** Writes the statuses of the class, the Gateway and the route, as a controller would. */
async function writeStatuses(bed: Bed): Promise<void> {
  const said = (type: string, status: string, reason: string, message = 'so it is') => ({
    type,
    status,
    reason,
    message,
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  })
  const kindOf = (kind: string, plural: string, namespaced = true) => ({
    group: API,
    version: 'v1',
    kind,
    plural,
    namespaced,
  })
  const fine = [said('Accepted', 'True', 'Accepted'), said('Programmed', 'True', 'Programmed')]
  const gatewayClass = { conditions: [said('Accepted', 'True', 'Accepted')] }
  await patchStatus(bed.client, kindOf('GatewayClass', 'gatewayclasses', false), { name: 'portico' }, gatewayClass)
  const listener = { name: 'http', attachedRoutes: 1, supportedKinds: [], conditions: fine }
  const place = (name: string) => ({ namespace: 'shop', name })
  await patchStatus(bed.client, kindOf('Gateway', 'gateways'), place('web'), {
    conditions: fine,
    listeners: [listener],
  })
  const missing = said('ResolvedRefs', 'False', 'BackendNotFound', 'rules[0]: Service shop/order not found')
  const parent = {
    parentRef: { name: 'web' },
    controllerName: 'portico.dev/gateway',
    conditions: [said('Accepted', 'True', 'Accepted'), missing],
  }
  await patchStatus(bed.client, kindOf('HTTPRoute', 'httproutes'), place('orders'), { parents: [parent] })
}
