import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { KUBERNETES, withoutBed } from './bed/programs.ts'

const PATIENCE_MS = 300_000
const SHELL = { command: ['sleep', 'infinity'] }

describe('the bed', { skip: withoutBed }, () => {
  let bed: Bed
  before(async () => {
    bed = await startBed({ images: { shell: SHELL, server: { command: [process.execPath, '-e', SERVER] } } })
  })
  after(async () => bed.stop())

  const ready = (name: string): Promise<void> =>
    eventually(
      `Pod ${name} is ready`,
      async () => (await bed.kubectl('get', 'pod', name, '-o', READY)) === 'True',
      PATIENCE_MS,
    )
  const inPod = (name: string, ...command: string[]): Promise<string> => bed.kubectl('exec', name, '--', ...command)

  it('runs Deployments behind Services, which loopback ports of this machine reach', async () => {
    await bed.apply(deployment('echo'), {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'echo', namespace: 'default' },
      spec: { type: 'LoadBalancer', selector: { app: 'echo' }, ports: [{ port: 80, targetPort: 3000 }] },
    })
    const address = await given('the Service has an address', () =>
      bed.kubectl('get', 'service', 'echo', '-o', ADDRESS),
    )
    const cluster = await bed.kubectl('get', 'service', 'echo', '-o', 'jsonpath={.spec.clusterIP}')
    for (const host of [address, cluster]) {
      const url = `http://127.0.0.1:${await bed.reach(host, 80)}/cup`
      // Rules for a Service come a moment after its Pods are ready.
      const answer = await given('the Service answers', () =>
        fetch(url, { headers: { connection: 'close' } }).then(
          (got) => got.text(),
          () => '',
        ),
      )
      assert.equal((JSON.parse(answer) as { path: string }).path, '/cup')
    }
    const inside = await bed.exec(['curl', '-s', `http://${cluster}/inside`])
    assert.match(inside.stdout, /\/inside/)
    assert.match(await bed.kubectl('logs', 'deployment/echo'), /Starting/)
    const named = await bed.kubectl('exec', 'deployment/echo', '--', 'getent', 'ahostsv4', 'echo')
    assert.equal(named.split(' ')[0], cluster)
  })

  it('writes Secrets and ConfigMaps of Pods anew while they run', async () => {
    const sources = (text: string): object[] => [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'live', namespace: 'default' }, stringData: { key: text } },
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'live', namespace: 'default' },
        data: { key: text, [text]: '' },
      },
    ]
    const pod = shellPod('live', {
      volumeMounts: ['secret', 'map', 'both'].map((name) => ({ name, mountPath: `/live/${name}` })),
      env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'live', key: 'key' } } }],
    })
    const volumes = [
      { name: 'secret', secret: { secretName: 'live', defaultMode: 0o400 } },
      { name: 'map', configMap: { name: 'live' } },
      {
        name: 'both',
        projected: {
          sources: [
            { secret: { name: 'live', items: [{ key: 'key', path: 'deep/secret' }] } },
            { serviceAccountToken: { path: 'token', audience: 'portico' } },
          ],
        },
      },
    ]
    // The Pod comes first, and waits.
    await bed.apply({ ...pod, spec: { ...pod.spec, volumes } })
    await bed.apply(...sources('one'))
    await ready('live')
    const read = (): Promise<string> =>
      inPod('live', 'sh', '-c', 'cat /live/secret/key /live/map/key /live/both/deep/secret; ls /live/map; echo $KEY')
    assert.equal(await read(), 'oneoneonekey\none\none\n')
    const tokenOf = async (): Promise<string[]> => (await inPod('live', 'cat', '/live/both/token')).split('.')
    assert.deepEqual(
      (JSON.parse(Buffer.from((await tokenOf())[1] ?? '', 'base64url').toString()) as { aud: string[] }).aud,
      ['portico'],
    )
    await bed.apply(...sources('two'))
    // Environment variables of a running process do not change.
    await eventually('the files are new', async () => (await read()) === 'twotwotwokey\ntwo\none\n', PATIENCE_MS)
  })

  it('forwards ports to the loopback of Pods for kubectl', async () => {
    await bed.apply(podOf('server', { image: 'server' }))
    await ready('server')
    const args = ['--kubeconfig', bed.kubeconfig, 'port-forward', 'pod/server', ':8000']
    const forward = spawn(join(KUBERNETES, 'kubectl'), args, { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      let text = ''
      forward.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      const port = await given('a port', () => Promise.resolve(/127\.0\.0\.1:(\d+) -> 8000/.exec(text)?.[1] ?? ''))
      const body = 'x'.repeat(300_000)
      for (const name of ['one', 'two']) {
        const response = await fetch(`http://127.0.0.1:${port}/${name}`, {
          method: 'POST',
          body,
          headers: { connection: 'close' },
        })
        assert.equal(await response.text(), `/${name} ${body}`)
      }
    } finally {
      const ended = once(forward, 'exit')
      forward.kill()
      await ended
    }
  })

  it('runs commands in containers, and tells how they ended', async () => {
    await bed.apply(shellPod('shell'))
    await ready('shell')
    assert.equal(await inPod('shell', 'sh', '-c', 'echo $HOSTNAME; id -u'), 'shell\n0\n')
    const args = ['--kubeconfig', bed.kubeconfig, 'exec', '-i', 'shell', '--', 'sh', '-c', 'cat; echo bad >&2; exit 3']
    const child = spawn(join(KUBERNETES, 'kubectl'), args, { stdio: ['pipe', 'pipe', 'pipe'] })
    child.stdin.end('given')
    const [stdout, stderr] = await Promise.all(
      [child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join('')),
    )
    assert.equal(stdout, 'given')
    assert.match(stderr ?? '', /^bad$/m)
    if (child.exitCode === null) await once(child, 'exit')
    assert.equal(child.exitCode, 3)
  })

  it('believes probes that run a command', async () => {
    const readinessProbe = { exec: { command: ['test', '-e', '/ready'] }, periodSeconds: 1, timeoutSeconds: 60 }
    await bed.apply(shellPod('probed', { readinessProbe }))
    await eventually(
      'it runs',
      async () => (await bed.kubectl('get', 'pod', 'probed', '-o', PHASE)) === 'Running',
      PATIENCE_MS,
    )
    assert.equal(await bed.kubectl('get', 'pod', 'probed', '-o', READY), 'False')
    await inPod('probed', 'touch', '/ready')
    await ready('probed')
  })

  it('gives containers only the rights that they ask for', async () => {
    const securityContext = {
      readOnlyRootFilesystem: true,
      runAsUser: 10_101,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    }
    const pod = shellPod('strict', { securityContext, volumeMounts: [{ name: 'room', mountPath: '/room' }] })
    await bed.apply({ ...pod, spec: { ...pod.spec, volumes: [{ name: 'room', emptyDir: {} }] } })
    await ready('strict')
    const script =
      'id -u; touch /room/file && echo wrote; touch /tmp/file 2>&1; grep -E "CapBnd|NoNewPrivs" /proc/self/status'
    const said = await inPod('strict', 'sh', '-c', script)
    assert.match(said, /^10101\nwrote\n.*Read-only file system\nCapBnd:\t0+\nNoNewPrivs:\t1\n$/)
  })

  it('has Pods go with their Deployment', async () => {
    await bed.apply(deployment('short'))
    await bed.kubectl('rollout', 'status', 'deployment/short', '--timeout=300s')
    await bed.kubectl('delete', 'deployment', 'short')
    await eventually(
      'its Pods are gone',
      async () => (await bed.kubectl('get', 'pod', '-l', 'app=short', '-o', 'name')) === '',
      PATIENCE_MS,
    )
  })
})

describe('a bed of the API server alone', { skip: withoutBed }, () => {
  it('ends with the process that started it', async () => {
    const script = `import { startBed } from ${JSON.stringify(fileURLToPath(new URL('bed/bed.ts', import.meta.url)))}
      const bed = await startBed({ parts: 'api', gatewayApi: 'none' })
      console.log(bed.folder)`
    const starter = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(starter.stdout.setEncoding('utf8'), 'data')) as [string]
    const folder = line.trim()
    assert.ok(existsSync(folder))
    assert.ok(processesOf(folder).length >= 3)
    const ended = once(starter, 'exit')
    starter.kill('SIGKILL')
    await ended
    await eventually('nothing of it runs', () => processesOf(folder).length === 0, PATIENCE_MS)
    rmSync(folder, { recursive: true, force: true })
  })

  it('several at once know nothing of one another', async () => {
    const beds = await Promise.all([1, 2].map(() => startBed({ parts: 'api', gatewayApi: 'none' })))
    try {
      await beds[0]?.kubectl('create', 'namespace', 'mine')
      const [one, two] = await Promise.all(beds.map((bed) => bed.kubectl('get', 'namespace', '-o', 'name')))
      assert.match(one ?? '', /namespace\/mine/)
      assert.doesNotMatch(two ?? '', /namespace\/mine/)
    } finally {
      await Promise.all(beds.map((bed) => bed.stop()))
    }
  })
})

const READY = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
const PHASE = 'jsonpath={.status.phase}'
const ADDRESS = 'jsonpath={.status.loadBalancer.ingress[0].ip}'

/** Answers on the loopback of its Pod alone. */
const SERVER = `require('node:http').createServer((request, response) => {
  response.write(request.url + ' ')
  request.pipe(response)
}).listen(8000, '127.0.0.1')`

function deployment(name: string): object {
  const labels = { app: name }
  const container = {
    name: 'echo',
    image: 'echo-basic',
    env: [
      { name: 'NAMESPACE', value: 'default' },
      { name: 'POD_NAME', value: name },
    ],
    readinessProbe: { httpGet: { path: '/health', port: 3000 }, periodSeconds: 1, timeoutSeconds: 30 },
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } },
    },
  }
}

function podOf(name: string, container: object) {
  const containers = [{ name: 'main', ...container }]
  const spec = { terminationGracePeriodSeconds: 0, containers }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec }
}

function shellPod(name: string, more: object = {}) {
  return podOf(name, { image: 'somewhere.example/tools/shell:1.0', ...more })
}

/** Waits until there is something to have. */
async function given(what: string, find: () => Promise<string>): Promise<string> {
  let found = ''
  await eventually(what, async () => (found = await find()) !== '', PATIENCE_MS)
  return found
}

/** The ids of the processes whose command names the folder. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(folder)
    } catch {
      return false
    }
  })
}
