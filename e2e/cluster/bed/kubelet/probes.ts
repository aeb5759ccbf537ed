import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Container } from './container.ts'
import { isServing } from './grpc-probe.ts'
import type { Probe } from './pod-types.ts'

interface ProbeHandlers {
  /** Whether it is ready, or has started, has changed. */
  changed: () => void
  failed: (why: string) => void
}

/** Watches a container by its probes until the signal is raised. */
export async function watchContainer(
  container: Container,
  address: string,
  { changed, failed }: ProbeHandlers,
  signal: AbortSignal,
): Promise<void> {
  const { startupProbe, readinessProbe, livenessProbe } = container.spec
  const verdicts = (probe: Probe): AsyncGenerator<Verdict> =>
    probing(
      probe,
      () => check(container, probe, address),
      signal,
      () => container.isReady,
    )
  if (startupProbe !== undefined) {
    for await (const { isUp, isDown } of verdicts(startupProbe)) {
      if (isDown) return failed('startup')
      if (isUp) break
    }
    if (signal.aborted) return
    container.hasStarted = true
  }
  const readiness = async (): Promise<void> => {
    if (readinessProbe === undefined) container.isReady = true
    changed()
    if (readinessProbe === undefined) return
    for await (const { isUp, isDown } of verdicts(readinessProbe)) {
      const isReady = isUp || (container.isReady && !isDown)
      if (isReady === container.isReady) continue
      container.isReady = isReady
      changed()
    }
  }
  const liveness = async (): Promise<void> => {
    if (livenessProbe === undefined) return
    for await (const { isDown } of verdicts(livenessProbe)) if (isDown) return failed('liveness')
  }
  await Promise.all([readiness(), liveness()])
}

interface Verdict {
  isUp: boolean
  isDown: boolean
}

async function* probing(
  { initialDelaySeconds = 0, periodSeconds = 10, successThreshold = 1, failureThreshold = 3 }: Probe,
  probe: () => Promise<boolean>,
  signal: AbortSignal,
  isSettled: () => boolean,
): AsyncGenerator<Verdict> {
  const pause = (ms: number): Promise<unknown> => wait(ms, undefined, { signal }).catch(() => undefined)
  let [passed, failed] = [0, 0]
  await pause(initialDelaySeconds * 1000)
  while (!signal.aborted) {
    const isGood = await probe()
    passed = isGood ? passed + 1 : 0
    failed = isGood ? 0 : failed + 1
    if (signal.aborted) return
    yield { isUp: passed >= successThreshold, isDown: failed >= failureThreshold }
    // Nobody wants to wait ten seconds for a Pod that comes up.
    await pause((isSettled() ? periodSeconds : Math.min(periodSeconds, 1)) * 1000)
  }
}

function check(container: Container, probe: Probe, address: string): Promise<boolean> {
  const { httpGet, tcpSocket, grpc, exec, timeoutSeconds = 1 } = probe
  const limitMs = timeoutSeconds * 1000
  const portOf = (port: number | string): number =>
    typeof port === 'number' ? port : (container.spec.ports?.find(({ name }) => name === port)?.containerPort ?? 0)
  if (httpGet !== undefined) {
    return asks({
      isSecure: httpGet.scheme === 'HTTPS',
      host: httpGet.host ?? address,
      port: portOf(httpGet.port),
      path: httpGet.path ?? '/',
      headers: Object.fromEntries((httpGet.httpHeaders ?? []).map(({ name, value }) => [name, value])),
      limitMs,
    })
  }
  if (grpc !== undefined) return isServing(`http://${address}:${grpc.port}`, grpc.service ?? '', limitMs)
  if (tcpSocket !== undefined) return connects(address, portOf(tcpSocket.port), limitMs)
  return succeeds(container, exec?.command ?? ['true'], limitMs)
}

interface HttpProbe {
  isSecure: boolean
  host: string
  port: number
  path: string
  headers: Record<string, string>
  limitMs: number
}

function asks({ isSecure, limitMs, ...target }: HttpProbe): Promise<boolean> {
  const { get } = isSecure ? https : http
  const options = { ...target, agent: false, rejectUnauthorized: false, signal: AbortSignal.timeout(limitMs) }
  return new Promise((resolve) => {
    const request = get(options, ({ statusCode = 0 }) => {
      resolve(statusCode >= 200 && statusCode < 400)
      request.destroy()
    })
    request.on('error', () => resolve(false))
  })
}

function connects(host: string, port: number, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal: AbortSignal.timeout(limitMs) }, () => {
      resolve(true)
      socket.destroy()
    })
    socket.on('error', () => resolve(false))
  })
}

async function succeeds(container: Container, command: readonly string[], limitMs: number): Promise<boolean> {
  if (container.pid === undefined) return false
  const child = container.exec(command)
  for (const stream of [child.stdout, child.stderr]) stream?.resume()
  child.stdin?.end()
  const late = setTimeout(() => child.kill('SIGKILL'), limitMs)
  try {
    const [code] = (await once(child, 'exit')) as [number | null]
    return code === 0
  } catch {
    return false
  } finally {
    clearTimeout(late)
  }
}
