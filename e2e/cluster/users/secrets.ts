import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { createAuthority } from '../../../packages/gateway/src/testing/certificates.ts'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { bedFiles } from '../bed/settings.ts'
import { gateway, route } from '../shop.ts'
import { backend, toBackend } from './boundaries.ts'
import { type Cluster, PATIENCE_MS, SYSTEM } from './cluster.ts'

/** Secrets that are used, secrets that are broken, and everything that the run has produced. */
export function secrets(cluster: () => Cluster): void {
  it('nothing of a Secret is in logs, Events, statuses, metrics, dumps, answers or plain on disk', async () => {
    const { bed } = cluster()
    const marker = (name: string): string => `marker-${name}-${randomBytes(12).toString('hex')}`
    const [key, user, backendToken, htpasswd, garbage, json, model, unused] = [
      ...['key', 'user', 'backend', 'htpasswd', 'garbage', 'json', 'model', 'unused'].map(marker),
    ] as [string, string, string, string, string, string, string, string]
    const pair = createAuthority('shop').issue({ commonName: 'shop.example', names: ['shop.example'] })
    const listener = (name: string, port: number) => ({
      name,
      port,
      protocol: 'HTTPS',
      tls: { certificateRefs: [{ name }] },
    })
    const http = { name: 'http', port: 80, protocol: 'HTTP' }
    const listeners = [http, listener('good', 443), listener('broken', 444)]
    const noCertificate = {
      'tls.crt': garbage,
      'tls.key': `-----BEGIN PRIVATE KEY-----\n${garbage}\n-----END PRIVATE KEY-----`,
    }
    await bed.apply(
      secret('good', { 'tls.crt': pair.cert, 'tls.key': pair.key }, 'kubernetes.io/tls'),
      secret('broken', noCertificate),
      secret('keys', { alice: key, bob: JSON.stringify({ key: user, metadata: { team: 'a' } }) }),
      secret('bad-keys', { eve: `{"key": "${json}"` }),
      secret('users', { '.htaccess': `bob:${htpasswd}` }),
      secret('upstream', { Authorization: `Bearer ${backendToken}` }),
      secret('model', { Authorization: model }),
      secret('unused', { password: unused }),
      gateway('web', { parameters: 'talkative', listeners }),
      ...['by-key', 'by-bad-key', 'by-password'].map((name) => route(name, `/${name}`)),
      policy('by-key', { apiKeyAuthentication: { secretRef: { name: 'keys' } } }),
      policy('by-bad-key', { apiKeyAuthentication: { secretRef: { name: 'bad-keys' } } }),
      policy('by-password', { basicAuthentication: { secretRef: { name: 'users' } } }),
      backend('upstream', upstream('upstream')),
      backend('lost', upstream('missing')),
      backend('model', {
        ai: { provider: { openai: { model: 'x' } } },
        policies: { auth: { secretRef: { name: 'model' } } },
      }),
      ...['upstream', 'lost', 'model'].map(toBackend),
    )
    const withKey = { authorization: `Bearer ${key}` }
    const isOpen = async (): Promise<boolean> => (await cluster().ask('/by-key', withKey)).status === 200
    await eventually('the key opens', isOpen, PATIENCE_MS)
    await cluster().answers('/upstream', 200)
    await eventually(
      'the broken certificate is told',
      async () => /InvalidCertificateRef/.test(await cluster().field('shop', 'gateway/web', '.status.listeners')),
      PATIENCE_MS,
    )
    const answers = await Promise.all([
      ...['/by-key', '/by-bad-key', '/by-password', '/lost', '/model'].map((path) => cluster().ask(path)),
      cluster().ask('/by-password', { authorization: `Basic ${btoa(`bob:${htpasswd}`)}` }),
    ])
    const produced = await everything(cluster())
    produced.set('answers', answers.map(({ text, headers }) => text + JSON.stringify([...headers])).join('\n'))
    const made = generatedSecrets(await bed.kubectl('get', 'secrets', '-A', '-o', 'json'))
    assert.ok(made.length >= 4, 'session keys and authorities')
    const keyLines = pair.key.split('\n').filter((line) => line.length > 40)
    assertAbsent(produced, [...[key, user, backendToken, htpasswd, garbage, json, model, unused], ...keyLines, ...made])
    // It was looked for where something is said of these very Secrets.
    for (const [where, word] of [
      ['statuses', /by-bad-key/],
      ['statuses', /InvalidCertificateRef/],
      ['logs', /translation finished/],
      ['dumps', /<redacted>/],
    ] as const) {
      assert.match(produced.get(where) ?? '', word)
    }
  })
}

function assertAbsent(produced: ReadonlyMap<string, string>, texts: readonly string[]): void {
  const found: string[] = []
  for (const text of texts) {
    for (const form of [text, Buffer.from(text).toString('base64').slice(0, -4)]) {
      for (const [where, all] of produced)
        if (all.includes(form)) found.push(`${text.slice(0, 12)}… in ${where}: ${around(all, form)}`)
    }
  }
  assert.deepEqual(found, [])
}

function around(all: string, text: string): string {
  const at = all.indexOf(text)
  return all.slice(Math.max(0, at - 120), at + 20)
}

/** Secrets that the controller itself created: session keys, and keys of authorities. */
function generatedSecrets(json: string): string[] {
  const { items } = JSON.parse(json) as { items: { metadata: { name: string }; data?: Record<string, string> }[] }
  return items
    .filter(({ metadata: { name } }) => /-session-key$|^portico-controller-ca$/.test(name))
    .flatMap(({ data = {} }) => Object.entries(data).filter(([entry]) => !entry.endsWith('.crt')))
    .flatMap(([, value]) => Buffer.from(value, 'base64').toString().split('\n'))
    .filter((line) => line.length > 30 && !line.startsWith('-----'))
}

/** All that can be read without the right to read Secrets, and all that lies on disk. */
async function everything(cluster: Cluster): Promise<Map<string, string>> {
  const { bed } = cluster
  const produced = new Map<string, string>()
  const add = (where: string, text: string): void => void produced.set(where, (produced.get(where) ?? '') + text)
  const kinds = (await bed.kubectl('api-resources', '--verbs=list', '-o', 'name')).trim().split('\n')
  const [events, others] = [
    (name: string) => name.startsWith('events'),
    (name: string) => !/^(events|secrets$)/.test(name),
  ]
  add('events', await bed.kubectl('get', kinds.filter(events).join(), '-A', '-o', 'json'))
  add('statuses', await bed.kubectl('get', kinds.filter(others).join(), '-A', '-o', 'json'))
  for (const namespace of ['shop', 'bank', SYSTEM]) {
    for (const pod of await cluster.podsOf(namespace, '')) {
      const logs = ['logs', pod, '--all-containers']
      add('logs', await bed.kubectl('-n', namespace, ...logs))
      if (!/^(web|safe)-/.test(pod)) continue
      const dump = ['exec', pod, '--', 'curl', '-s', 'http://localhost:15000/config_dump']
      add('dumps', await bed.kubectl('-n', namespace, ...dump))
      add(
        'metrics',
        await bed.kubectl('-n', namespace, 'exec', pod, '--', 'curl', '-s', 'http://localhost:15020/metrics'),
      )
    }
  }
  const controller = ['exec', 'deployment/portico-controller', '--', 'curl', '-s', 'http://localhost:9979/metrics']
  add('metrics', await bed.kubectl('-n', SYSTEM, ...controller))
  for (const args of [
    ['effective', 'gateway/web', '-n', 'shop'],
    ['status', '-n', 'shop'],
  ]) {
    add('porticoctl', JSON.stringify(await cluster.porticoctl(...args)))
  }
  for (const file of filesBelow(bedFiles(bed.folder).pods)) {
    if (/\.sealed(\.new)?$/.test(file)) add('disk', readFileSync(file, 'latin1'))
  }
  assert.ok((produced.get('disk') ?? '').length > 1000, 'data planes keep their config on disk')
  return produced
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes('/volumes/'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => statSync(file, { throwIfNoEntry: false }) !== undefined)
}

function secret(name: string, stringData: Record<string, string>, type = 'Opaque'): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'shop' }, type, stringData }
}

/** On the route of its name. */
function policy(name: string, traffic: object): object {
  const targetRefs = [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name }]
  return {
    apiVersion: 'portico.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { name, namespace: 'shop' },
    spec: { targetRefs, traffic },
  }
}

function upstream(name: string): object {
  return { static: { host: 'cart.shop.svc.cluster.local', port: 8080 }, policies: { auth: { secretRef: { name } } } }
}
