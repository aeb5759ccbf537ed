import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parseAllDocuments } from 'yaml'
import type { Resource } from '../../packages/translate/src/index.ts'
import { listAt, textAt, valueAt } from '../../packages/translate/src/resources/json.ts'
import { withoutHelm } from './bed/programs.ts'
import { DEPLOY, helm, renderInstall, template } from './chart.ts'

const KINDS = ['gwbackends', 'gwfilters', 'gwmodels', 'gwparameters', 'gwpolicies']

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
    assert.deepEqual(
      kept,
      KINDS.map(() => 'keep'),
    )
    const others = await objectsOf('portico-crds', 'keep=false')
    assert.deepEqual(
      others.map(({ metadata: { name, annotations } }) => [name, annotations]),
      KINDS.map((name) => [`${name}.portico.dev`, undefined]),
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

  it('let variables of users replace those that no value decides', async () => {
    const objects = await objectsOf('portico', 'env=[{"name":"MALLOC_ARENA_MAX","value":"4"}]')
    const deployment = objects.find(({ kind }) => kind === 'Deployment')
    const [container] = listAt(deployment, 'spec', 'template', 'spec', 'containers')
    const env = listAt(container, 'env').map((one) => [textAt(one, 'name'), textAt(one, 'value')])
    assert.deepEqual(
      env.filter(([name]) => name?.startsWith('MALLOC')),
      [
        ['MALLOC_MMAP_THRESHOLD_', '16384'],
        ['MALLOC_TRIM_THRESHOLD_', '65536'],
        ['MALLOC_ARENA_MAX', '4'],
      ],
    )
  })

  it('give rights in a list of namespaces, and almost none elsewhere', async () => {
    const values = ['namespaces=["shop","bank"]', 'podMonitor.enabled=true', 'networkPolicy.enabled=true']
    const objects = await objectsOf('portico', ...values)
    const rolesOf = (kind: string): Resource[] => objects.filter((object) => object.kind === kind)
    const rightsOf = (role: Resource): string[] =>
      listAt(role, 'rules').flatMap((rule) =>
        listAt(rule, 'resources').flatMap((resource) =>
          listAt(rule, 'verbs').map((verb) => `${String(verb)} ${String(resource)}`),
        ),
      )
    const [cluster] = rolesOf('ClusterRole')
    assert.deepEqual(rightsOf(cluster ?? assert.fail('no ClusterRole')).toSorted(), [
      'create tokenreviews',
      ...['get gatewayclasses', 'get gateways'],
      ...['list clustertrustbundles', 'list gatewayclasses', 'list gateways', 'list namespaces'],
      ...['patch gatewayclasses/status', 'patch gateways/status'],
      ...['watch clustertrustbundles', 'watch gatewayclasses', 'watch gateways', 'watch namespaces'],
    ])
    const roles = rolesOf('Role').map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
    const gateways = ['shop/portico-controller-gateways', 'bank/portico-controller-gateways']
    assert.deepEqual(roles, ['portico-system/portico-controller', ...gateways])
    const bindings = rolesOf('RoleBinding').map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
    assert.deepEqual(bindings, roles)
    for (const binding of rolesOf('RoleBinding')) {
      assert.deepEqual(listAt(binding, 'subjects'), [
        { kind: 'ServiceAccount', name: 'portico-controller', namespace: 'portico-system' },
      ])
    }
    const [own, shop] = rolesOf('Role').map(rightsOf)
    assert.ok(shop?.includes('create deployments') && shop.includes('delete secrets'))
    assert.deepEqual(own?.filter((right) => /secrets|deployments/.test(right)).toSorted(), [
      ...['create secrets', 'get secrets', 'update secrets'],
    ])
    // Without the list both are in the ClusterRole.
    const [whole] = (await objectsOf('portico')).filter(({ kind }) => kind === 'ClusterRole')
    const all = rightsOf(whole ?? assert.fail('no ClusterRole'))
    assert.deepEqual(all.toSorted(), [...rightsOf(cluster ?? assert.fail()), ...(shop ?? [])].toSorted())
    const [container] = listAt(rolesOf('Deployment')[0], 'spec', 'template', 'spec', 'containers')
    const variable = listAt(container, 'env').find((one) => textAt(one, 'name') === 'NAMESPACES')
    assert.equal(textAt(variable, 'value'), 'shop,bank')
    const [, monitor] = rolesOf('PodMonitor')
    assert.deepEqual(valueAt(monitor, 'spec', 'namespaceSelector'), { matchNames: ['shop', 'bank'] })
    assert.match(JSON.stringify(rolesOf('NetworkPolicy')), /"operator":"In","values":\["shop","bank"\]/)
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
      ['namespaces=["Shop"]', /at '\/namespaces\/0': 'Shop' does not match pattern/],
      ['externalNames=["*"]', /at '\/externalNames\/0': '\*' does not match pattern/],
      ['namespaces=["shop","shop"]', /at '\/namespaces': items at 0 and 1 are equal/],
      ['env=[{"name":"A","value":"1"},{"name":"A","value":"2"}]', /env: A is there twice/],
      ['env=[{"name":"LOG_LEVEL","value":"debug"}]', /env: LOG_LEVEL is set by `logging\.level`/],
      ['env=[{"name":"POD_NAME","value":"one"}]', /env: POD_NAME is set by the chart/],
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
