import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type FakeCluster, GATEWAYS, listOf, podOf, PODS, useFakeCluster } from '../testing/fake-cluster.ts'
import { type FakeGateway, useFakeGateway } from '../testing/fake-gateway.ts'
import { skipWithout } from '../testing/installed.ts'
import { type Output, runProgram, startProgram } from '../testing/program.ts'

const trace = ({ kubeconfig }: FakeCluster, ...args: string[]): string[] => [
  'trace',
  'gateway/web',
  '--kubeconfig',
  kubeconfig,
  '--raw',
  ...args,
]

const adminPort = ({ admin }: FakeGateway): number => Number(admin.split(':')[1])

function pathsIn({ stdout }: Output): string[] {
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { message: Record<string, unknown> })
  return events.flatMap(({ message }) => {
    const state = message['requestState'] as { request?: { path: string } } | undefined
    return message['stage'] === 'initial request' ? (state?.request?.path ?? []) : []
  })
}

describe('trace gateway/<name>', () => {
  test('watches all ready Pods, and prints the first request of any', async (t) => {
    const [one, two] = [await useFakeGateway(t), await useFakeGateway(t)]
    const pods = listOf(podOf('web-1'), podOf('web-2'), podOf('web-3', { isReady: false }))
    const ports = { 'web-1:15000': adminPort(one), 'web-2:15000': adminPort(two) }
    const cluster = await useFakeCluster(t, { objects: { [PODS]: pods }, ports })
    const program = startProgram(trace(cluster))
    await program.told('Gateway shop/web (2 Pods): waiting for the next request')
    get({ host: '127.0.0.1', port: two.port, path: '/seen-by-two', agent: false }, (response) => response.resume())
    const ended = await program.ended
    assert.equal(ended.code, 0, ended.stderr)
    assert.deepEqual(pathsIn(ended), ['/seen-by-two'])
    assert.deepEqual([one.expressions, two.expressions], [[null], [null]])
    const [list] = cluster.asked
    assert.match(
      decodeURIComponent(list ?? ''),
      /pods\?.*labelSelector=.*gateway\.networking\.k8s\.io\/gateway-name=web/,
    )
  })

  test(
    'sends a request of its own through the Pod, with no port on this machine',
    { skip: skipWithout('curl') },
    async (t) => {
      const gateway = await useFakeGateway(t, { refuses: (expression) => expression?.includes('rawAddress') === true })
      const ports = { 'web-1:15000': adminPort(gateway), 'web-1:80': gateway.port }
      const cluster = await useFakeCluster(t, { objects: { [PODS]: listOf(podOf('web-1'), podOf('web-2')) }, ports })
      const folder = mkdtempSync(join(tmpdir(), 'trace-'))
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      const ended = await runProgram(
        trace(cluster, '--port', '80', '--', 'http://api.example.com/users', '-H', 'x-a: 1'),
        { env: { TMPDIR: folder } },
      )
      assert.equal(ended.code, 0, ended.stderr)
      assert.deepEqual(pathsIn(ended), ['/users'])
      const [seen] = gateway.seen
      assert.deepEqual([seen?.headers.host, seen?.headers['x-a']], ['api.example.com', '1'])
      assert.deepEqual(gateway.expressions, ['source.rawAddress in ["127.0.0.1", "::1"]', null])
      assert.deepEqual(readdirSync(folder), [], 'it leaves nothing behind')
    },
  )

  test('a variable of the Pod sets the admin address', async (t) => {
    const gateway = await useFakeGateway(t)
    const env = [{ name: 'ADMIN_ADDR', value: 'localhost:16000' }]
    const objects = { [PODS]: listOf(podOf('web-1', { env })) }
    const cluster = await useFakeCluster(t, { objects, ports: { 'web-1:16000': adminPort(gateway) } })
    const program = startProgram(trace(cluster))
    await program.told('Pod shop/web-1: waiting')
    program.child.kill('SIGINT')
    assert.equal((await program.ended).code, 130)
  })

  test('a Pod without an admin server is reported, while another watches', async (t) => {
    const gateway = await useFakeGateway(t)
    const objects = { [PODS]: listOf(podOf('web-1'), podOf('web-2')) }
    const cluster = await useFakeCluster(t, { objects, ports: { 'web-2:15000': adminPort(gateway) } })
    const program = startProgram(trace(cluster))
    await program.told('Pod shop/web-1 does not answer on its admin port 15000')
    await program.told('waiting for the next request')
    get({ host: '127.0.0.1', port: gateway.port, path: '/x', agent: false }, (response) => response.resume())
    const ended = await program.ended
    assert.equal(ended.code, 0, ended.stderr)
    assert.deepEqual(pathsIn(ended), ['/x'])
  })

  const web = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { namespace: 'shop', name: 'web' },
  }
  const pending = { type: 'Programmed', status: 'False', reason: 'Pending', message: 'no Pods yet' }
  const refusals: [string, { objects: Record<string, unknown>; forbidden?: string[] }, RegExp][] = [
    [
      'a name that is nearly right',
      { objects: { [PODS]: listOf(), [GATEWAYS]: listOf({ metadata: { name: 'webs' } }) } },
      /there is no Gateway web in namespace shop; did you mean gateway\/webs\?/,
    ],
    [
      'a Gateway of another namespace',
      {
        objects: {
          [PODS]: listOf(),
          [GATEWAYS]: listOf(),
          '/apis/gateway.networking.k8s.io/v1/gateways': listOf({ metadata: { name: 'web', namespace: 'prod' } }),
        },
      },
      /there is one in prod: name it with -n/,
    ],
    [
      'a Gateway without Pods',
      { objects: { [PODS]: listOf(), [`${GATEWAYS}/web`]: { ...web, status: { conditions: [pending] } } } },
      /Gateway shop\/web has no Pods: Programmed is False \(Pending\): no Pods yet/,
    ],
    [
      'Pods that are not ready',
      { objects: { [PODS]: listOf(podOf('web-1', { isReady: false })) } },
      /no Pod of Gateway shop\/web is ready: web-1 \(running, not ready\)/,
    ],
    [
      'no right to list Pods',
      { objects: {}, forbidden: [PODS] },
      /no right to list pods in namespace shop \(kubectl auth can-i list pods -n shop\)/,
    ],
    [
      'no right to forward ports',
      { objects: { [PODS]: listOf(podOf('web-1')) }, forbidden: [`${PODS}/web-1/portforward`] },
      /no right to create pods\/portforward in namespace shop/,
    ],
    [
      'an admin server that is off',
      { objects: { [PODS]: listOf(podOf('web-1', { env: [{ name: 'ADMIN_ADDR', value: 'off' }] })) } },
      /the admin server of Pod shop\/web-1 is off/,
    ],
    [
      'a port where nothing listens',
      { objects: { [PODS]: listOf(podOf('web-1')) } },
      /Pod shop\/web-1 does not answer on its admin port 15000: .*connection refused/,
    ],
  ]
  for (const [name, options, problem] of refusals) {
    test(`says what to do about ${name}`, async (t) => {
      const cluster = await useFakeCluster(t, options)
      const { code, stdout, stderr } = await runProgram(trace(cluster))
      assert.deepEqual([code, stdout], [1, ''], stderr)
      assert.match(stderr, problem)
      assert.doesNotMatch(stderr, /of-ann/)
    })
  }

  test('a listener port where nothing listens is named', { skip: skipWithout('curl') }, async (t) => {
    const gateway = await useFakeGateway(t)
    const objects = { [PODS]: listOf(podOf('web-1')) }
    const cluster = await useFakeCluster(t, { objects, ports: { 'web-1:15000': adminPort(gateway) } })
    const { code, stderr } = await runProgram(trace(cluster, '--port', '81', '--', 'http://a.example/'))
    assert.equal(code, 1)
    assert.match(stderr, /nothing answers on port 81 of Pod shop\/web-1: give the port of a listener/)
  })

  test('kubeconfigs are found as kubectl finds them', async (t) => {
    const cluster = await useFakeCluster(t, { objects: {}, forbidden: [PODS, PODS.replace('shop', 'other')] })
    const env = { KUBECONFIG: `/nowhere:${cluster.kubeconfig}` }
    assert.match((await runProgram(['trace', 'gateway/web'], { env })).stderr, /in namespace shop/)
    assert.match((await runProgram(['trace', 'gateway/web', '-n', 'other'], { env })).stderr, /in namespace other/)
    const unknown = await runProgram(['trace', 'gateway/web', '--context', 'prod'], { env })
    assert.match(unknown.stderr, /the kubeconfig has no context "prod"/)
    const none = await runProgram(['trace', 'gateway/web'], { env: { HOME: '/nowhere' } })
    assert.match(none.stderr, /there is no kubeconfig: \/nowhere\/\.kube\/config/)
    assert.equal(none.code, 1)
  })
})
