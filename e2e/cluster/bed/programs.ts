import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The programs that `build.ts` builds, each in a folder whose name depends on its sources. */

const HERE = fileURLToPath(new URL('.', import.meta.url))
const { PORTICO_BED_CACHE, XDG_CACHE_HOME } = process.env
export const CACHE = PORTICO_BED_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'portico-bed')

/** Packages that are unpacked but not installed, so that none of their services starts by itself. */
export const DEBIAN_PACKAGES = [
  'etcd-server',
  'nftables',
  'libnftables1',
  'libnftnl11',
  'libmnl0',
  'libjansson4',
  'libedit2',
  'libgmp10',
  'libxtables12',
]

/** etcd and nft, with the libraries of the latter. */
export const DEBIAN = join(CACHE, `debian-${hashOf(DEBIAN_PACKAGES.join(' '))}`)
/** kube-apiserver, kube-controller-manager, kube-proxy, kubectl. */
export const KUBERNETES = join(CACHE, `kubernetes-${hashOfFolder('kubernetes')}`)

/** The suites of the Gateway API by folder: the newest release, and an older one that only `npm run conformance` builds. */
export const suites = ['conformance', 'conformance-1.5'] as const
export type Suite = (typeof suites)[number]

/** The Gateway API's CRDs, and the manifests and the server of its official suite. */
export function gatewayApiOf(suite: Suite): string {
  return join(CACHE, `gateway-api-${hashOfFolder(suite)}`)
}

/** The folder of the suite's program, `conformance.test`. */
export function suiteProgramOf(suite: Suite): string {
  return join(CACHE, `conformance-${hashOfFolder(suite)}`)
}

/** The release of the Gateway API that tests use. */
export const GATEWAY_API = gatewayApiOf('conformance')

/** The official suite of the Gateway API Inference Extension (`conformance.test`), its endpoint picker (`lwepp`) and `crds`. */
export const INFERENCE = join(CACHE, `inference-${hashOfFolder('inference')}`)

/** Releases of the Gateway API whose CRDs must work, with the hashes of their modules, as in a `go.sum`. */
export const crdReleases: Readonly<Record<string, string>> = {
  'v1.4.1': 'h1:NPxFutNkKNa8UfLd2CMlEuhIPMQgDQ6DXNKG9sHbJU8=',
  'v1.5.1': 'h1:RqVRIlkhLhUO8wOHKTLnTJA6o/1un4po4/6M1nRzdd0=',
  'v1.6.3': 'h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=',
  'v1.7.0': 'h1:duVnm7nO6oXfMMUWfcDoBph47CYR/ME3NGxccOVglaY=',
}

/** The CRDs of these releases, in folders such as `v1.4.1/standard`. */
export const CRDS = join(CACHE, `gateway-api-crds-${hashOf(JSON.stringify(crdReleases))}`)

/** Helm, which installs charts and needs no bed to render them. */
export const HELM = join(CACHE, `helm-${hashOfFolder('helm')}`, 'helm')

/** Why there can be no bed here, or false. */
export const withoutBed: string | false = reason()

/** Why the official suite cannot run here, or false. */
export const withoutSuite: string | false =
  withoutBed || (!existsSync(suiteProgramOf('conformance')) && 'the suite is not built; npm run bed -- build builds it')

/** Why the official suite of the Gateway API Inference Extension cannot run here, or false. */
export const withoutInferenceSuite: string | false =
  withoutBed || (!existsSync(INFERENCE) && 'the suite of inference pools is not built; npm run bed -- build builds it')

/** Why CRDs of several releases cannot be tested here, or false. */
export const withoutCrds: string | false =
  withoutBed || (!existsSync(CRDS) && 'the CRDs are not there; npm run bed -- build fetches them')

/** Why charts cannot be rendered here, or false. */
export const withoutHelm: string | false = !existsSync(HELM) && 'Helm is not built; npm run bed -- build builds it'

/** The version of a module that a folder's programs are made of. */
export function versionOf(folder: 'kubernetes' | 'helm' | 'inference' | Suite, module: string): string {
  const lines = readFileSync(join(HERE, folder, 'go.mod'), 'utf8').split('\n')
  const found = lines.map((line) => line.trim().split(' ')).find(([name]) => name === module)
  if (found?.[1] === undefined) throw new Error(`${folder}/go.mod has no ${module}`)
  return found[1]
}

/** The modules that stand in another version than the suite requires, such as `name v0.2.0 => v0.1.0`. */
export function replacementsIn(suite: Suite | 'inference'): string[] {
  const text = readFileSync(join(HERE, suite, 'go.mod'), 'utf8')
  return [...text.matchAll(/^replace (\S+) => \S+ (\S+)$/gm)].flatMap(([, module = '', used = '']) => {
    const required = versionOf(suite, module)
    return required === used ? [] : [`${module} ${required} => ${used}`]
  })
}

function hashOfFolder(name: string): string {
  const files = readdirSync(join(HERE, name)).toSorted()
  return hashOf(...files.map((file) => readFileSync(join(HERE, name, file), 'utf8')))
}

function hashOf(...texts: string[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text)
  return hash.digest('hex').slice(0, 16)
}

function reason(): string | false {
  if (process.platform !== 'linux') return 'no bed here: it needs Linux'
  if (process.getuid?.() !== 0) return 'no bed here: it needs root'
  if (![DEBIAN, KUBERNETES, GATEWAY_API].every((folder) => existsSync(folder)))
    return 'no bed here; npm run bed -- build builds it'
  return missingAbility()
}

/** Namespaces, pairs of devices, overlays and packet rules are not given to every container. */
function missingAbility(): string | false {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bed-'))
  const script = `ip link add bed0 type veth peer name bed1
    ${join(DEBIAN, 'bin/nft')} add table ip bed
    mkdir upper work root
    mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root`
  try {
    const args = ['--net', '--pid', '--fork', '--mount-proc', 'sh', '-ec', script]
    execFileSync('unshare', args, { cwd: folder, stdio: 'pipe' })
    return false
  } catch (error) {
    const said = String((error as { stderr?: unknown }).stderr ?? error).trim()
    return `no bed here: ${said.split('\n').at(-1)}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
