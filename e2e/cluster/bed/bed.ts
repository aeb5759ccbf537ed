import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { KubeClient } from '../../../packages/controller/src/kube/kube-client.ts'
import { createAuthority } from '../../../packages/gateway/src/testing/certificates.ts'
import { clientFor } from './kubelet/cluster.ts'
import { API_SERVICE_ADDRESS, type Image, type Images, NODE_ADDRESS, NODE_NAME } from './kubelet/node-settings.ts'
import { API_PORT, proxyConfig } from './program-arguments.ts'
import { DEBIAN, gatewayApiOf, KUBERNETES, type Suite } from './programs.ts'
import { openRelay } from './relay.ts'
import { bedFiles, type BedSettings, type Order, type Program } from './settings.ts'
import { suiteImages } from './suite-images.ts'

const INSIDE = fileURLToPath(new URL('inside.ts', import.meta.url))
/** The token of the cluster administrator, the same in each bed. */
const TOKEN = 'admin-token'

export interface BedOptions extends Partial<BedSettings> {
  /** The channel of Gateway API CRDs that is installed from the start. */
  gatewayApi?: 'standard' | 'experimental' | 'none'
  /** The suite whose release of the Gateway API is installed, and whose images are known. */
  suite?: Suite
  /** The program for each image, by the name of the image (in full, without the tag, or its last part). */
  images?: Images
}

export interface Output {
  code: number
  stdout: string
  stderr: string
}

/** A Kubernetes of its own, until it is stopped or the process that started it ends. */
export class Bed {
  readonly folder: string
  /** The kubeconfig of the cluster administrator, for programs on this machine. */
  readonly kubeconfig: string
  /** A client with the rights of the cluster administrator. */
  readonly client: KubeClient
  readonly #child: ChildProcess
  readonly #relays: Map<string, Promise<{ server: Server; port: number }>>
  readonly #endings = new Map<Program, () => void>()

  constructor(folder: string, child: ChildProcess, relay: { server: Server; port: number }) {
    this.folder = folder
    this.#child = child
    this.#relays = new Map([[`${NODE_ADDRESS}:${API_PORT}`, Promise.resolve(relay)]])
    const server = `https://127.0.0.1:${relay.port}`
    const ca = readFileSync(bedFiles(folder).ca, 'utf8')
    this.client = clientFor({ server, ca, token: TOKEN })
    this.kubeconfig = join(folder, 'kubeconfig-outside')
    writeFileSync(this.kubeconfig, JSON.stringify(kubeconfig(server, ca)))
  }

  /** The URL of the API server, on a loopback port of this machine. */
  get server(): string {
    return (JSON.parse(readFileSync(this.kubeconfig, 'utf8')) as { clusters: [{ cluster: { server: string } }] })
      .clusters[0].cluster.server
  }

  get ca(): string {
    return readFileSync(bedFiles(this.folder).ca, 'utf8')
  }

  /** A loopback port of this machine that leads to a port of a Pod, a Service or the node. */
  async reach(address: string, port: number): Promise<number> {
    const key = `${address}:${port}`
    const relay = this.#relays.get(key) ?? openRelay(bedFiles(this.folder).relay, address, port)
    this.#relays.set(key, relay)
    return (await relay).port
  }

  /** Runs a command inside, where all addresses of the cluster are; KUBECONFIG is set. */
  exec(command: readonly string[], input = ''): Promise<Output> {
    const [program = '', ...args] = this.enter(command)
    return runToEnd(program, args, input, { ...process.env, ...this.environment })
  }

  /** kubectl with these arguments; fails with what it said. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const program = join(KUBERNETES, 'kubectl')
    const { code, stdout, stderr } = await runToEnd(
      program,
      ['--kubeconfig', this.kubeconfig, ...args],
      '',
      process.env,
    )
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`)
    return stdout
  }

  /** Applies manifests, as YAML or as objects. */
  async apply(...manifests: readonly (string | object)[]): Promise<string> {
    const text = manifests.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n---\n')
    const args = ['--kubeconfig', this.kubeconfig, 'apply', '--server-side', '-f', '-']
    const { code, stdout, stderr } = await runToEnd(join(KUBERNETES, 'kubectl'), args, text, process.env)
    if (code !== 0) throw new Error(`kubectl apply: ${stderr.trim()}`)
    return stdout
  }

  /** Sets the program for an image, from the next Pod on. */
  setImage(name: string, image: Image): void {
    const { images } = bedFiles(this.folder)
    writeFileSync(images, JSON.stringify({ ...(JSON.parse(readFileSync(images, 'utf8')) as Images), [name]: image }))
  }

  /** Ends one of the programs; `start` starts it again. */
  async kill(program: Program): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#endings.set(program, resolve))
    this.#order({ order: 'kill', program, signal: 'SIGKILL' })
    await ended
  }

  start(program: Program): void {
    this.#order({ order: 'start', program })
  }

  /** Returns the output of a program so far. */
  log(program: Program): string {
    return readFileSync(bedFiles(this.folder).logOf(program), 'utf8')
  }

  async stop(): Promise<void> {
    this.client.close()
    for (const relay of this.#relays.values()) {
      const { server } = await relay
      server.close()
    }
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit')
      this.#child.stdin?.end()
      await ended
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** The words that run a command inside. */
  enter(command: readonly string[]): string[] {
    const children = `/proc/${this.#child.pid}/task/${this.#child.pid}/children`
    const init = readFileSync(children, 'utf8').trim()
    return ['nsenter', '-t', init, '--net', '--pid', '--mount', `--wd=${process.cwd()}`, '--', ...command]
  }

  get environment(): Record<string, string> {
    return { PATH: pathWithPrograms(), KUBECONFIG: bedFiles(this.folder).kubeconfig }
  }

  /** A line of the inside. */
  heard({ ended }: { ended?: Program }): void {
    if (ended !== undefined) this.#endings.get(ended)?.()
  }

  #order(order: Order): void {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`)
  }
}

/** Starts a bed and waits until all of it works. Call it only where `withoutBed` is false. */
export async function startBed(options: BedOptions = {}): Promise<Bed> {
  const { gatewayApi = 'experimental', suite = 'conformance', images = {}, parts = 'all', manifests = [] } = options
  const { trustBundles = false } = options
  const folder = mkdtempSync(join(tmpdir(), 'portico-bed-'))
  const files = bedFiles(folder)
  prepare(folder)
  const all = [...gatewayManifests(suite, gatewayApi), ...manifests]
  const settings: BedSettings = { parts, manifests: all, trustBundles }
  writeFileSync(files.settings, JSON.stringify(settings))
  writeFileSync(files.images, JSON.stringify({ ...suiteImages(suite), ...images }))
  // The first process of a pid namespace has to collect those that lost their parents, which a shell does.
  const shell = ['bash', '-c', '"$@"; exit', 'bash', process.execPath, INSIDE, folder]
  const child = spawn('unshare', ['--net', '--pid', '--fork', '--kill-child', '--mount-proc', ...shell], {
    env: { ...process.env, PATH: pathWithPrograms() },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.on('error', () => undefined)
  let bed: Bed | undefined
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as { ready?: true; failed?: string; ended?: Program }
      if (said.ready === true) resolve()
      else if (said.failed === undefined) bed?.heard(said)
      else reject(new Error(`the bed: ${said.failed}\n${logTails(folder)}`))
    })
    child.once('exit', () => reject(new Error(`the bed ended\n${logTails(folder)}`)))
  })
  try {
    await ready
  } catch (error) {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    throw error
  }
  bed = new Bed(folder, child, await openRelay(files.relay, NODE_ADDRESS, API_PORT))
  return bed
}

/** Certificates, keys and configs of the programs. */
function prepare(folder: string): void {
  const files = bedFiles(folder)
  mkdirSync(files.pods)
  const authority = createAuthority('bed')
  writeFileSync(files.ca, authority.cert)
  const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '127.0.0.1']
  const server = authority.issue({ commonName: 'kube-apiserver', names: [...names, API_SERVICE_ADDRESS, NODE_ADDRESS] })
  const toKubelet = authority.issue({ commonName: 'kube-apiserver-to-kubelet' })
  for (const [{ cert, key }, to] of [
    [server, files.server],
    [toKubelet, files.toKubelet],
  ] as const) {
    writeFileSync(to.cert, cert)
    writeFileSync(to.key, key)
  }
  const accounts = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(files.accounts.public, accounts.publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(files.accounts.private, accounts.privateKey.export({ type: 'pkcs1', format: 'pem' }))
  writeFileSync(files.tokens, `${TOKEN},admin,admin,"system:masters"\n`)
  const url = `https://${NODE_ADDRESS}:${API_PORT}`
  writeFileSync(files.kubeconfig, JSON.stringify(kubeconfig(url, authority.cert)))
  writeFileSync(files.proxy, JSON.stringify(proxyConfig(folder)))
  const kubelet = authority.issue({ commonName: `system:node:${NODE_NAME}`, names: [NODE_NAME, NODE_ADDRESS] })
  const { images, pods } = files
  const settings = { server: url, ca: authority.cert, token: TOKEN, ...kubelet, images, folder: pods }
  writeFileSync(files.kubelet, JSON.stringify(settings))
}

function kubeconfig(server: string, ca: string): object {
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bed', cluster }],
    users: [{ name: 'admin', user: { token: TOKEN } }],
    contexts: [{ name: 'bed', context: { cluster: 'bed', user: 'admin' } }],
    'current-context': 'bed',
  }
}

function gatewayManifests(suite: Suite, channel: 'standard' | 'experimental' | 'none'): string[] {
  if (channel === 'none') return []
  const folder = join(gatewayApiOf(suite), 'crds', channel)
  return readdirSync(folder)
    .filter((name) => name.startsWith('gateway.'))
    .map((name) => join(folder, name))
}

function pathWithPrograms(): string {
  return [KUBERNETES, join(DEBIAN, 'bin'), process.env['PATH'] ?? ''].join(delimiter)
}

function logTails(folder: string): string {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => `--- ${name}\n${readFileSync(join(folder, name), 'utf8').split('\n').slice(-8).join('\n')}`)
    .join('\n')
}

function runToEnd(program: string, args: readonly string[], input: string, env: NodeJS.ProcessEnv): Promise<Output> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { env, maxBuffer: 256 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number' && child.exitCode === null) reject(error)
      else resolve({ code: child.exitCode ?? 1, stdout, stderr })
    })
    // A program that does not read its input to the end has not failed.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}
