import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  CACHE,
  crdReleases,
  CRDS,
  DEBIAN,
  DEBIAN_PACKAGES,
  gatewayApiOf,
  HELM,
  INFERENCE,
  KUBERNETES,
  type Suite,
  suiteProgramOf,
  suites,
  versionOf,
} from './programs.ts'

/**
 * Builds what the bed runs, once for each state of the lock files: Kubernetes, Helm and the suites from the Go module
 * proxy, etcd and nft from Debian. Prints nothing when all is there. An argument names another folder of `suites`.
 */

const HERE = fileURLToPath(new URL('.', import.meta.url))
const GO_ENV = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' }

function main(): void {
  const programs = ['go', 'unshare', 'nsenter', 'setpriv', 'ip', 'apt-get', 'dpkg']
  const missing = programs.filter((name) => !isOnPath(name))
  if (missing.length > 0) return console.log(`no ${missing.join(', no ')} here: no bed is built`)
  make(DEBIAN, 'etcd and nft', unpackDebian)
  make(KUBERNETES, `Kubernetes ${versionOf('kubernetes', 'k8s.io/kubernetes')}`, buildKubernetes)
  const [, , name = 'conformance'] = process.argv
  const suite = suites.find((each) => each === name)
  if (suite === undefined) throw new Error(`there is no suite ${name}; there are ${suites.join(', ')}`)
  const release = versionOf(suite, 'sigs.k8s.io/gateway-api')
  make(gatewayApiOf(suite), `the Gateway API ${release}`, (folder) => buildGatewayApi(suite, folder))
  make(CRDS, 'the CRDs of several releases', copyCrds)
  make(dirname(HELM), `Helm ${versionOf('helm', 'helm.sh/helm/v3')}`, buildHelm)
  make(suiteProgramOf(suite), `the official suite of the Gateway API ${release}`, (folder) => buildSuite(suite, folder))
  make(INFERENCE, `the official suite of inference pools ${versionOf('inference', POOLS)}`, buildInference)
}

/** In a folder of another name until it is whole, so that what was broken off is never found. */
function make(folder: string, what: string, fill: (folder: string) => void): void {
  if (existsSync(folder)) return
  console.log(`builds ${what}`)
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  try {
    fill(unfinished)
    renameSync(unfinished, folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

function unpackDebian(folder: string): void {
  // Not every machine has the lists of packages from the start.
  const quiet = { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'] }
  const download = (): void =>
    void execFileSync('apt-get', ['download', '-qq', '-o', 'APT::Sandbox::User=root', ...DEBIAN_PACKAGES], quiet)
  try {
    download()
  } catch {
    execFileSync('apt-get', ['update', '-qq'], quiet)
    download()
  }
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
    execFileSync('dpkg', ['-x', file, '.'], quiet)
    rmSync(join(folder, file))
  }
  mkdirSync(join(folder, 'bin'))
  symlinkSync('../usr/bin/etcd', join(folder, 'bin/etcd'))
  // kube-proxy looks for it on the path; its libraries were unpacked beside it.
  const script = ['#!/bin/sh', 'here=$(dirname "$0")/..', 'LD_LIBRARY_PATH=$(echo "$here"/usr/lib/*-linux-gnu)']
  script.push('export LD_LIBRARY_PATH', 'exec "$here/usr/sbin/nft" "$@"')
  writeFileSync(join(folder, 'bin/nft'), `${script.join('\n')}\n`, { mode: 0o755 })
}

function buildKubernetes(folder: string): void {
  const version = versionOf('kubernetes', 'k8s.io/kubernetes')
  const [major, minor] = version.slice(1).split('.')
  // A build of the modules alone knows no version, and clients ask for it.
  const fields = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean', gitCommit: 'module' }
  const settings = Object.entries(fields).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
  go('kubernetes', ['build', '-ldflags', ['-s -w', ...settings].join(' '), '-o', join(folder, 'kubernetes'), '.'])
  for (const name of ['kube-apiserver', 'kube-controller-manager', 'kube-proxy', 'kubectl']) {
    symlinkSync('kubernetes', join(folder, name))
  }
}

function buildHelm(folder: string): void {
  // Without a cluster it takes charts for as old as it was told when it was built.
  const [major = '', minor = ''] = versionOf('kubernetes', 'k8s.io/kubernetes').slice(1).split('.')
  const settings = ['chartutil', 'lint/rules'].flatMap((place) => [
    `-X helm.sh/helm/v3/pkg/${place}.k8sVersionMajor=${major}`,
    `-X helm.sh/helm/v3/pkg/${place}.k8sVersionMinor=${minor}`,
  ])
  settings.push(`-X helm.sh/helm/v3/internal/version.version=${versionOf('helm', 'helm.sh/helm/v3')}`)
  const flags = ['-s -w', ...settings].join(' ')
  go('helm', ['build', '-ldflags', flags, '-o', join(folder, 'helm'), 'helm.sh/helm/v3/cmd/helm'])
}

function buildSuite(suite: Suite, folder: string): void {
  go(suite, ['test', '-c', '-ldflags', '-s -w', '-o', join(folder, 'conformance.test'), '.'])
}

function buildGatewayApi(suite: Suite, folder: string): void {
  go(suite, ['build', '-ldflags', '-s -w', '-o', join(folder, 'echo-basic'), echoServers[suite]])
  cpSync(join(sourcesOf(suite, 'sigs.k8s.io/gateway-api'), 'config/crd'), join(folder, 'crds'), { recursive: true })
  for (const name of ['base', 'tests']) {
    const filter = (path: string): boolean => !path.endsWith('.go')
    cpSync(join(sourcesOf(suite, TESTS), name), join(folder, 'manifests', name), { recursive: true, filter })
  }
  // The module cache is read-only, and so is what is copied from it.
  execFileSync('chmod', ['-R', 'u+w', folder])
}

function buildInference(folder: string): void {
  go('inference', ['test', '-c', '-ldflags', '-s -w', '-o', join(folder, 'conformance.test'), `${POOLS}/conformance`])
  go('inference', ['build', '-ldflags', '-s -w', '-o', join(folder, 'lwepp'), `${POOLS}/cmd/lwepp`])
  // The suite insists on the release of the Gateway API that it was built with.
  const gatewayApi = join(sourcesOf('inference', 'sigs.k8s.io/gateway-api'), 'config/crd/standard')
  const definitions = readdirSync(gatewayApi).filter((name) => name.startsWith('gateway.'))
  for (const name of definitions) cpSync(join(gatewayApi, name), join(folder, 'crds', name))
  const pools = join(sourcesOf('inference', POOLS), 'config/crd/bases')
  cpSync(join(pools, POOL_CRD), join(folder, 'crds', POOL_CRD))
  execFileSync('chmod', ['-R', 'u+w', folder])
}

/** Downloads a module, which the builds before need not have done, and returns the folder of its sources. */
function sourcesOf(modules: Suite | 'inference', module: string): string {
  const { Dir: folder } = JSON.parse(go(modules, ['mod', 'download', '-json', module])) as { Dir?: string }
  if (folder === undefined) throw new Error(`the sources of ${module} cannot be found`)
  return folder
}

/** Copies the CRDs of several releases, of which a `go.mod` could name only one. */
function copyCrds(folder: string): void {
  for (const [release, sum] of Object.entries(crdReleases)) {
    const words = ['-n', '10', 'go', 'mod', 'download', '-json', `sigs.k8s.io/gateway-api@${release}`]
    const said = execFileSync('nice', words, {
      cwd: folder,
      env: { ...GO_ENV, GOTOOLCHAIN: 'go1.27.0' },
      encoding: 'utf8',
    })
    const { Dir: source, Sum: found } = JSON.parse(said) as { Dir: string; Sum: string }
    if (found !== sum) throw new Error(`the Gateway API ${release} has the hash ${found}, expected ${sum}`)
    for (const channel of ['standard', 'experimental']) {
      cpSync(join(source, 'config/crd', channel), join(folder, release, channel), { recursive: true })
    }
  }
  execFileSync('chmod', ['-R', 'u+w', folder])
}

const TESTS = 'sigs.k8s.io/gateway-api/conformance'
const POOLS = 'sigs.k8s.io/gateway-api-inference-extension'
const POOL_CRD = 'inference.networking.k8s.io_inferencepools.yaml'

/** The package of each suite's own server, which has a module of its own since 1.7. */
const echoServers: Readonly<Record<Suite, string>> = {
  conformance: 'sigs.k8s.io/gateway-api-conformance-images/echo-basic',
  'conformance-1.5': `${TESTS}/echo-basic`,
}

/** Folders whose modules need a newer Go than this machine may have. */
const NEWER_GO: ReadonlySet<string> = new Set(['conformance', 'inference'])

/** Behind everything else that the machine does. */
function go(folder: string, [command = '', ...args]: readonly string[]): string {
  const flags = command === 'mod' ? [] : ['-mod=readonly', '-trimpath']
  const words = ['-n', '10', 'go', command, ...flags, ...args]
  // A suite may need a newer Go than this machine has, which Go fetches like a module.
  const env = { ...GO_ENV, GOTOOLCHAIN: NEWER_GO.has(folder) ? 'auto' : 'local' }
  const cwd = join(HERE, folder)
  return execFileSync('nice', words, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function isOnPath(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))
}

mkdirSync(CACHE, { recursive: true })
main()
