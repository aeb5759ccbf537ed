import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parseAllDocuments } from 'yaml'
import type { Resource } from '../../packages/translate/src/index.ts'
import { listAt, textAt, valueAt } from '../../packages/controller/src/deploy/json.ts'
import { withoutHelm } from './bed/programs.ts'
import { DEPLOY, helm, renderInstall, template } from './chart.ts'

describe('the charts', { skip: withoutHelm }, () => {
  it('are what `deploy/install.yaml` is rendered from; otherwise run `npm run install-yaml`', async () => {
    assert.ok(
      (await renderInstall()) === readFileSync(join(DEPLOY, 'install.yaml'), 'utf8'),
      'deploy/install.yaml is stale',
    )
  })

  it('have nothing that Helm finds fault with', async () => {
    for (const chart of ['helm/portico', 'helm/portico-crds']) {
      const { ok, stdout, stderr } = await helm('lint', '--strict', '--quiet', chart)
      assert.ok(ok, stdout + stderr)
    }
  })

  it('keep the kinds when they are uninstalled, unless they are told otherwise', async () => {
    const kept = (await objectsOf('portico-crds')).map(
      ({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'],
    )
    assert.deepEqual(kept, ['keep', 'keep', 'keep'])
    const others = await objectsOf('portico-crds', 'keep=false')
    assert.deepEqual(
      others.map(({ metadata: { name, annotations } }) => [name, annotations]),
      ['gwbackends', 'gwparameters', 'gwpolicies'].map((name) => [`${name}.portico.dev`, undefined]),
    )
  })

  it('install no more than is asked for', async () => {
    const kinds = kindsOf(await objectsOf('portico'))
    const usual = ['ClusterRole', 'ClusterRoleBinding', 'Deployment', 'GatewayClass', 'Role', 'RoleBinding', 'Service']
    assert.deepEqual(kinds, [...usual, 'ServiceAccount'])
    const without = ['rbac.create=false', 'gatewayClass.create=false', 'serviceAccount={"create":false,"name":"own"}']
    assert.deepEqual(kindsOf(await objectsOf('portico', ...without)), ['Deployment', 'Service'])
    const more = ['replicas=2', 'podMonitor.enabled=true', 'networkPolicy.enabled=true']
    const added = kindsOf(await objectsOf('portico', ...more)).filter((kind) => !kinds.includes(kind))
    assert.deepEqual(added, ['NetworkPolicy', 'PodDisruptionBudget', 'PodMonitor', 'PodMonitor'])
  })

  it('give the controller what values say', async () => {
    const objects = await objectsOf(
      'portico',
      'image={"registry":"registry.example/team","tag":"2.0.0","pullPolicy":"Always","pullSecrets":["pull"]}',
      `dataPlane.image={"registry":"registry.example","digest":"sha256:${'a'.repeat(64)}","pullPolicy":"Never"}`,
      'controllerName="example.com/portico"',
      'gatewayClass={"name":"edge","parametersRef":{"name":"all"}}',
      'namespaceSelector="team=shop,stage!=test"',
      'logging={"level":"info,status=debug","format":"json"}',
      'env=[{"name":"NODE_OPTIONS","value":"--max-old-space-size=400"}]',
      'resources.limits={"memory":"512Mi"}',
      'podLabels={"team":"edge"}',
      'podAnnotations={"note":"yes"}',
      'tolerations=[{"key":"edge","operator":"Exists"}]',
      'nodeSelector={"kubernetes.io/os":"linux"}',
      'labels={"cost":"shared"}',
      'serviceAccount.annotations={"role":"x"}',
      'service.annotations={"note":"s"}',
    )
    const find = (kind: string): Resource => objects.find((object) => object.kind === kind) ?? assert.fail(kind)
    const deployment = find('Deployment')
    const pod = valueAt(deployment, 'spec', 'template')
    const [container] = listAt(pod, 'spec', 'containers')
    assert.equal(textAt(container, 'image'), 'registry.example/team/portico-controller:2.0.0')
    assert.equal(textAt(container, 'imagePullPolicy'), 'Always')
    assert.deepEqual(valueAt(pod, 'spec', 'imagePullSecrets'), [{ name: 'pull' }])
    const env = Object.fromEntries(listAt(container, 'env').map((one) => [textAt(one, 'name'), textAt(one, 'value')]))
    assert.equal(env['PROXY_IMAGE'], `registry.example/portico@sha256:${'a'.repeat(64)}`)
    assert.equal(env['PROXY_IMAGE_PULL_POLICY'], 'Never')
    assert.equal(env['SERVICE_NAME'], find('Service').metadata.name)
    assert.equal(env['CONTROLLER_NAME'], 'example.com/portico')
    assert.equal(env['NAMESPACE_SELECTOR'], 'team=shop,stage!=test')
    assert.deepEqual([env['LOG_LEVEL'], env['LOG_FORMAT']], ['info,status=debug', 'json'])
    assert.equal(env['NODE_OPTIONS'], '--max-old-space-size=400')
    assert.deepEqual(valueAt(container, 'resources', 'limits'), { memory: '512Mi' })
    assert.deepEqual(valueAt(container, 'resources', 'requests'), { cpu: '100m', memory: '256Mi' })
    assert.equal(textAt(pod, 'metadata', 'labels', 'team'), 'edge')
    assert.equal(textAt(pod, 'metadata', 'annotations', 'note'), 'yes')
    assert.equal(listAt(pod, 'spec', 'tolerations').length, 1)
    assert.equal(textAt(pod, 'spec', 'nodeSelector', 'kubernetes.io/os'), 'linux')
    assert.deepEqual(find('GatewayClass').spec, {
      controllerName: 'example.com/portico',
      description: 'Gateways that Portico serves',
      parametersRef: { group: 'portico.dev', kind: 'GwParameters', name: 'all', namespace: 'portico-system' },
    })
    for (const { kind, metadata } of objects) assert.equal(metadata.labels?.['cost'], 'shared', kind)
    assert.equal(find('ServiceAccount').metadata.annotations?.['role'], 'x')
    assert.equal(find('Service').metadata.annotations?.['note'], 's')
  })

  it('take the values of the page about installing', async (t) => {
    const page = readFileSync(join(DEPLOY, '../docs/install.md'), 'utf8')
    const [, values = ''] = /^```yaml\n(.*?)^```/ms.exec(page) ?? []
    const folder = mkdtempSync(join(tmpdir(), 'portico-chart-'))
    t.after(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'values.yaml'), values)
    const { ok, stdout, stderr } = await helm('template', 'portico', 'helm/portico', '-f', join(folder, 'values.yaml'))
    assert.ok(ok, stderr)
    assert.match(stdout, /^ {2}replicas: 2$/m)
    assert.match(stdout, /image: "registry\.example\/portico-controller:/)
  })

  it('refuse wrong values, and say which', async () => {
    const wrong: [string, RegExp][] = [
      ['replicas=0', /at '\/replicas': minimum: got 0, want 1/],
      ['replicas="two"', /at '\/replicas': got string, want integer/],
      ['replica=2', /additional properties 'replica' not allowed/],
      ['image.tg="1"', /at '\/image': additional properties 'tg' not allowed/],
      ['image.pullPolicy="Sometimes"', /at '\/image\/pullPolicy': value must be one of/],
      ['image.digest="abc"', /at '\/image\/digest': 'abc' does not match pattern/],
      ['logging.format="xml"', /at '\/logging\/format': value must be one of 'text', 'json'/],
      ['controllerName="portico"', /at '\/controllerName': 'portico' does not match pattern/],
      ['gatewayClass.parametersRef={"namespace":"a"}', /'name' required, if 'namespace' exists/],
      ['podMonitor.interval="often"', /at '\/podMonitor\/interval'/],
      ['env=[{"value":"1"}]', /at '\/env\/0': missing property 'name'/],
      ['serviceAccount.create=false', /serviceAccount\.name is needed where serviceAccount\.create is false/],
    ]
    for (const [value, told] of wrong) {
      const { ok, stderr } = await template('portico', value)
      assert.ok(!ok, value)
      assert.match(stderr, told)
    }
  })
})

async function objectsOf(chart: 'portico' | 'portico-crds', ...values: string[]): Promise<Resource[]> {
  const { ok, stdout, stderr } = await template(chart, ...values)
  assert.ok(ok, stderr)
  return parseAllDocuments(stdout).flatMap((document) => (document.toJS() as Resource | null) ?? [])
}

function kindsOf(objects: readonly Resource[]): string[] {
  return objects.map(({ kind }) => kind).toSorted()
}
