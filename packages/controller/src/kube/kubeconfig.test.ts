import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type KubeconfigOptions, readKubeconfig } from './kubeconfig.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

const CONFIG = `
current-context: dev
contexts:
- { name: dev, context: { cluster: one, user: by-token, namespace: shop } }
- { name: prod, context: { cluster: two, user: by-certificate } }
- { name: files, context: { cluster: three, user: by-files } }
- { name: anybody, context: { cluster: one } }
- { name: basic, context: { cluster: one, user: by-password } }
- { name: old, context: { cluster: one, user: by-provider } }
- { name: nowhere, context: { cluster: none, user: by-token } }
clusters:
- { name: one, cluster: { server: "https://one:6443", certificate-authority-data: ${base64('CA')} } }
- { name: two, cluster: { server: "https://two", insecure-skip-tls-verify: true, tls-server-name: inner } }
- { name: three, cluster: { server: "https://three", certificate-authority: pki/ca.crt } }
users:
- { name: by-token, user: { token: abc } }
- { name: by-certificate, user: { client-certificate-data: ${base64('CERT')}, client-key-data: ${base64('KEY')} } }
- { name: by-files, user: { tokenFile: pki/token } }
- { name: by-password, user: { username: u, password: p } }
- { name: by-provider, user: { auth-provider: { name: gcp } } }
`

test('reads contexts, tokens, certificates and relative files', async (t) => {
  const file = useFolder(t, { config: CONFIG, 'pki/ca.crt': 'FILE-CA', 'pki/token': 'from-file\n' })('config')
  const read = async (context?: string): Promise<unknown[]> => {
    const config = readKubeconfig({ file, ...(context !== undefined && { context }) })
    return [config.context, config.server, config.namespace, await config.credentials(false)]
  }
  assert.deepEqual(await read(), ['dev', 'https://one:6443', 'shop', { ca: 'CA', authorization: 'Bearer abc' }])
  assert.deepEqual(await read('prod'), [
    'prod',
    'https://two',
    undefined,
    { insecure: true, serverName: 'inner', cert: 'CERT', key: 'KEY' },
  ])
  assert.deepEqual((await read('files'))[3], { ca: 'FILE-CA', authorization: 'Bearer from-file' })
  assert.deepEqual((await read('anybody'))[3], { ca: 'CA' })
  assert.deepEqual((await read('basic'))[3], { ca: 'CA', authorization: `Basic ${base64('u:p')}` })
})

test('uses the proxy of the cluster, or of the environment', (t) => {
  const proxied = CONFIG.replace(
    'server: "https://one:6443"',
    'server: "https://one:6443", proxy-url: "http://near:3128"',
  )
  const at = useFolder(t, { config: CONFIG, proxied })
  const env = { HTTPS_PROXY: 'http://far:3128', NO_PROXY: 'two' }
  const proxyOf = (file: string, context: string): string | undefined =>
    readKubeconfig({ file: at(file), context, env }).proxy
  assert.deepEqual(
    [proxyOf('config', 'dev'), proxyOf('config', 'prod'), proxyOf('proxied', 'dev')],
    ['http://far:3128', undefined, 'http://near:3128'],
  )
})

test('merges several files, the first wins', async (t) => {
  const at = useFolder(t, {
    first: 'current-context: mine\nusers: [{ name: by-token, user: { token: first } }]',
    second: `${CONFIG}\n`.replace('name: dev', 'name: mine'),
  })
  const env = { KUBECONFIG: `${at('first')}:${at('missing')}:${at('second')}` }
  const config = readKubeconfig({ env })
  assert.deepEqual(
    [config.context, config.server, (await config.credentials(false)).authorization],
    ['mine', 'https://one:6443', 'Bearer first'],
  )
})

test('the file of the home folder is the last resort', (t) => {
  const at = useFolder(t, { '.kube/config': CONFIG })
  assert.equal(readKubeconfig({ env: { HOME: at('.') } }).context, 'dev')
})

test('errors name the wrong entry', (t) => {
  const at = useFolder(t, { config: CONFIG, empty: 'a: 1', text: 'text', broken: 'a: [' })
  const problem = (options: KubeconfigOptions): string => {
    try {
      readKubeconfig(options)
      return ''
    } catch (error) {
      return (error as Error).message.replaceAll(at('.'), '')
    }
  }
  assert.equal(problem({ file: at('config'), context: 'x' }), 'the kubeconfig has no context "x"')
  assert.equal(problem({ file: at('config'), context: 'nowhere' }), 'the kubeconfig has no cluster "none"')
  assert.match(
    problem({ file: at('config'), context: 'old' }),
    /^user "by-provider" of the kubeconfig has an auth-provider/,
  )
  assert.equal(problem({ file: at('empty') }), 'the kubeconfig has no current context: name one with --context')
  assert.match(problem({ file: at('text') }), /is not a mapping$/)
  assert.match(problem({ file: at('broken') }), /^kubeconfig .*broken: /)
  assert.match(problem({ env: { KUBECONFIG: at('missing') } }), /^there is no kubeconfig: /)
})

test('a plugin provides credentials until they expire', async (t) => {
  const at = useFolder(t, {
    config: `
current-context: c
contexts: [{ name: c, context: { cluster: k, user: u } }]
clusters: [{ name: k, cluster: { server: "https://k" } }]
users:
- name: u
  user:
    exec: { command: ./plugin, args: [one], env: [{ name: EXTRA, value: more }], apiVersion: client.authentication.k8s.io/v1beta1 }`,
    plugin: `#!/bin/sh
echo "$1 $EXTRA $KUBERNETES_EXEC_INFO" >> "$(dirname "$0")/calls"
echo '{"status":{"token":"t'$(wc -l < "$(dirname "$0")/calls" | tr -d ' ')'","expirationTimestamp":"'$(cat "$(dirname "$0")/until")'"}}'`,
    until: '2000-01-01T00:00:00Z',
  })
  chmodSync(at('plugin'), 0o755)
  const { credentials } = readKubeconfig({ file: at('config') })
  assert.equal((await credentials(false)).authorization, 'Bearer t1')
  writeFileSync(at('until'), '2999-01-01T00:00:00Z')
  assert.equal((await credentials(false)).authorization, 'Bearer t2')
  assert.equal((await credentials(false)).authorization, 'Bearer t2')
  assert.equal((await credentials(true)).authorization, 'Bearer t3')
})

test('the error of a failed plugin contains its reason', async (t) => {
  const file = (exec: string): string =>
    useFolder(t, {
      config: `
current-context: c
contexts: [{ name: c, context: { cluster: k, user: u } }]
clusters: [{ name: k, cluster: { server: "https://k" } }]
users: [{ name: u, user: { exec: ${exec} } }]`,
    })('config')
  const problem = async (exec: string): Promise<string> =>
    readKubeconfig({ file: file(exec) })
      .credentials(false)
      .then(
        () => '',
        (error: Error) => error.message,
      )
  assert.match(await problem('{ command: sh, args: [-c, "echo no login >&2; exit 3"] }'), /plugin sh failed: no login$/)
  assert.match(await problem('{ command: no-such-plugin, installHint: install it }'), /failed: install it$/)
  assert.match(await problem('{ command: sh, args: [-c, "echo hidden"] }'), /sh printed no JSON$/)
  assert.match(await problem(`{ command: echo, args: ['{"status":{}}'] }`), /echo returned no credentials$/)
})

/** Creates a folder with files; the result maps names to paths. */
function useFolder(t: TestContext, files: Readonly<Record<string, string>>): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-kubeconfig-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return (name) => join(folder, name)
}
