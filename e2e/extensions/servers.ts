import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'
import { parse } from 'yaml'
import { fencesOf } from '../../packages/gateway/src/testing/docs/docs-pages.ts'
import { closedPort } from '../../packages/gateway/src/testing/scene.ts'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { built } from './servers/built.ts'

/** Servers that others wrote, which `servers/build.sh` builds. */

const RATELIMIT = built('ratelimit', 'go.mod', 'go.sum')
const OPA = built('opa', 'go.mod', 'go.sum')
const COLLECTOR = built('otelcol', 'go.mod', 'go.sum', 'main.go')
/** No server: the reader of Compose's own files. */
export const COMPOSE = built('compose', 'go.mod', 'go.sum')
const ENVOY = built('envoy', 'requirements.txt')
const [REDIS, PROMETHEUS] = ['redis-server', 'prometheus'].map(onPath)

/** Why tests with a server are skipped, or false where they can run. */
export const withoutRateLimit: string | false = !existsSync(RATELIMIT)
  ? 'no envoyproxy/ratelimit here; e2e/extensions/servers/build.sh builds it'
  : REDIS === undefined && 'no redis-server here; the Debian package of that name has it'
export const withoutOpa: string | false = existsSync(OPA)
  ? false
  : 'no Envoy plugin of Open Policy Agent here; e2e/extensions/servers/build.sh builds it'

export const withoutCollector: string | false = existsSync(COLLECTOR)
  ? false
  : 'no collector of OpenTelemetry here; e2e/extensions/servers/build.sh builds it'

export const withoutEnvoy: string | false = existsSync(ENVOY)
  ? false
  : 'no Envoy here; e2e/extensions/servers/build.sh installs it'

export const withoutCompose: string | false = existsSync(COMPOSE)
  ? false
  : 'no reader of Compose files here; e2e/extensions/servers/build.sh builds it'

export const withoutPrometheus: string | false =
  PROMETHEUS === undefined && 'no prometheus here; the Debian package of that name has it'

interface Server {
  host: string
  port: number
  /** Ends it at once, as kill -9 does. */
  kill(): Promise<void>
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>
}

export async function useRedis(t: TestContext): Promise<Server> {
  const port = await closedPort()
  const folder = useFolder(t)
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  return useServer(t, { program: REDIS ?? '', args, ports: [port] })
}

/** envoyproxy/ratelimit with this config, which is YAML; JSON is that too. */
export async function useRateLimitServer(
  t: TestContext,
  redis: Server,
  config: object,
  settings: Record<string, string> = {},
): Promise<Server> {
  const folder = useFolder(t)
  mkdirSync(join(folder, 'ratelimit', 'config'), { recursive: true })
  writeFileSync(join(folder, 'ratelimit', 'config', 'limits.yaml'), JSON.stringify(config))
  const [grpc, http, debug] = [await closedPort(), await closedPort(), await closedPort()]
  const env = {
    USE_STATSD: 'false',
    REDIS_SOCKET_TYPE: 'tcp',
    REDIS_URL: redis.host,
    RUNTIME_ROOT: folder,
    RUNTIME_SUBDIRECTORY: 'ratelimit',
    RUNTIME_WATCH_ROOT: 'false',
    HOST: '127.0.0.1',
    PORT: String(http),
    GRPC_HOST: '127.0.0.1',
    GRPC_PORT: String(grpc),
    DEBUG_HOST: '127.0.0.1',
    DEBUG_PORT: String(debug),
    ...settings,
  }
  return useServer(t, { program: RATELIMIT, args: [], env, ports: [grpc, http] })
}

/** Open Policy Agent as a gRPC authorizer with this policy, written in Rego. */
export async function useOpa(t: TestContext, policy: string): Promise<Server> {
  const file = join(useFolder(t), 'policy.rego')
  writeFileSync(file, policy)
  const [grpc, http] = [await closedPort(), await closedPort()]
  const plugin = 'plugins.envoy_ext_authz_grpc'
  const settings = [`${plugin}.addr=127.0.0.1:${grpc}`, `${plugin}.path=envoy/authz/result`]
  const args = ['run', '--server', '--disable-telemetry', '--addr', `127.0.0.1:${http}`, '--log-level', 'error']
  return useServer(t, {
    program: OPA,
    args: [...args, ...settings.flatMap((one) => ['--set', one]), file],
    ports: [grpc],
  })
}

export interface Collector {
  /** `host:port` of each of its protocols. */
  grpc: string
  http: string
  /** Lets it finish what it has begun. */
  stop(): Promise<void>
  /** Once more, on the same ports. */
  start(): Promise<void>
  /** Received requests from the file of the collector, one JSON value each. */
  received(): unknown[]
}

/** The OpenTelemetry collector, with the config of `docs/opentelemetry.md`. */
export async function useCollector(t: TestContext): Promise<Collector> {
  const folder = useFolder(t)
  const [grpc, http] = [await closedPort(), await closedPort()]
  const file = join(folder, 'received.jsonl')
  const config = collectorRecipe()
  config.receivers.otlp.protocols = {
    grpc: { endpoint: `127.0.0.1:${grpc}` },
    http: { endpoint: `127.0.0.1:${http}` },
  }
  Object.assign(config.exporters.file, { path: file, flush_interval: '100ms' })
  config.service.telemetry = { metrics: { level: 'none' }, logs: { level: 'warn' } }
  const configFile = join(folder, 'collector.yaml')
  writeFileSync(configFile, JSON.stringify(config))
  const args = ['--config', configFile]
  const start = (): Promise<Server> => useServer(t, { program: COLLECTOR, args, ports: [grpc, http] })
  let server = await start()
  return {
    grpc: `127.0.0.1:${grpc}`,
    http: `127.0.0.1:${http}`,
    stop: () => server.stop(),
    start: async () => void (server = await start()),
    received: () => wholeLines(readFileSync(file, 'utf8')).map((line) => JSON.parse(line) as unknown),
  }
}

interface CollectorConfig {
  receivers: { otlp: { protocols: object } }
  exporters: { file: object }
  service: { telemetry?: object }
}

/** The config of the page. */
function collectorRecipe(): CollectorConfig {
  const page = readFileSync(new URL('../../docs/opentelemetry.md', import.meta.url), 'utf8')
  const fence = fencesOf(page).find(({ lang, text }) => lang === 'yaml' && text.startsWith('receivers:'))
  return parse(fence?.text ?? '') as CollectorConfig
}

/** The last one may still be in the writing. */
function wholeLines(text: string): string[] {
  return text.split('\n').slice(0, -1)
}

/** Envoy with this config, which is YAML; JSON is that too. It serves the port. */
export async function useEnvoy(t: TestContext, port: number, config: object): Promise<Server> {
  const file = join(useFolder(t), 'envoy.yaml')
  writeFileSync(file, JSON.stringify(config))
  const args = ['-c', file, '--concurrency', '1', '-l', 'error', '--disable-hot-restart']
  return useServer(t, { program: ENVOY, args, ports: [port] })
}

/** Prometheus, which scrapes these `host:port` twice a second and keeps exemplars. */
export async function usePrometheus(t: TestContext, targets: readonly string[]): Promise<Server> {
  const [folder, port] = [useFolder(t), await closedPort()]
  const file = join(folder, 'prometheus.yaml')
  const scrape = { job_name: 'portico', scrape_interval: '500ms', static_configs: [{ targets }] }
  writeFileSync(file, JSON.stringify({ scrape_configs: [scrape] }))
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`, '--log.level=error']
  args.push(`--web.listen-address=127.0.0.1:${port}`, '--enable-feature=exemplar-storage')
  const server = await useServer(t, { program: PROMETHEUS ?? '', args, ports: [port] })
  await eventually('Prometheus is ready', async () => (await fetch(`http://${server.host}/-/ready`)).status === 200)
  return server
}

interface Start {
  program: string
  args: readonly string[]
  env?: Record<string, string>
  /** Loopback ports that it serves; the first is the one that tests use. */
  ports: readonly number[]
}

/** Starts a program, waits until it serves its ports, and ends it with the test. */
export async function useServer(t: TestContext, { program, args, env = {}, ports }: Start): Promise<Server> {
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  t.after(() => end(child, 'SIGKILL'))
  for (const port of ports) {
    await eventually(`${program} serves port ${port}`, async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended: ${output}`)
      return accepts(port)
    })
  }
  const port = ports[0] ?? 0
  return { host: `127.0.0.1:${port}`, port, kill: () => end(child, 'SIGKILL'), stop: () => end(child, 'SIGTERM') }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function useFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-e2e-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find((file) => isExecutable(file))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
