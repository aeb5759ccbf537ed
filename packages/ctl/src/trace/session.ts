import { setTimeout as delay } from 'node:timers/promises'
import { arm, type Armed, type StreamEnd } from './client.ts'
import { couldNotBind, type CurlEnd, curlProblem, hasSentNothing, type Injection, startCurl } from './curl.ts'
import type { TraceEvent } from './event.ts'
import { pickLocalPorts, type PortRange, requestFilter } from './local-ports.ts'
import type { TraceRequest } from './plan.ts'

export interface TracePlan extends TraceRequest {
  /** Whether curl may: not while keys are read from the terminal. */
  readonly mayReadInput: boolean
}

export interface TraceView {
  /** The gateway watches; a request is sent only after this is done. */
  armed(): void
  event(event: TraceEvent): void
}

export type TraceOutcome = { readonly curl: CurlEnd | null } & (
  | StreamEnd
  | { readonly kind: 'failed'; readonly problem: string }
)

/** How long after curl's end the first event may still come. */
const FIRST_EVENT_WITHIN_MS = 5000

/** Traces one request from arming to its end. */
export async function runTrace(plan: TracePlan, view: TraceView, signal: AbortSignal): Promise<TraceOutcome> {
  const { injection } = plan
  const outcome = await (injection === null ? watch(plan, view, signal) : inject({ plan, injection, view, signal }))
  return signal.aborted && outcome.kind !== 'finished' ? { kind: 'stopped', curl: null } : outcome
}

async function watch(plan: TracePlan, view: TraceView, signal: AbortSignal): Promise<TraceOutcome> {
  const armed = await arm({ ...plan, onEvent: (event) => view.event(event), signal })
  if (!armed.ok) return { kind: 'failed', problem: armed.problem, curl: null }
  view.armed()
  return { ...(await armed.ended), curl: null }
}

interface Scene {
  plan: TracePlan
  injection: Injection
  view: TraceView
  signal: AbortSignal
}

async function inject(scene: Scene): Promise<TraceOutcome> {
  const ports = pickLocalPorts(scene.injection.args)
  const pinned = ports === null ? null : await injectFrom(ports, scene)
  // Where the ports cannot be used, the next request is taken, whoever sends it.
  return pinned ?? injectFrom(null, scene)
}

/** Null when nothing was sent because of the ports. */
async function injectFrom(ports: null, scene: Scene): Promise<TraceOutcome>
async function injectFrom(ports: PortRange, scene: Scene): Promise<TraceOutcome | null>
async function injectFrom(ports: PortRange | null, scene: Scene): Promise<TraceOutcome | null> {
  const { plan, injection, view, signal } = scene
  const { promise: firstEvent, resolve: sawEvent } = Promise.withResolvers<void>()
  const armed = await arm({
    ...plan,
    expression: requestFilter(plan.expression, ports),
    onEvent(event) {
      sawEvent()
      view.event(event)
    },
    signal,
  })
  if (!armed.ok) {
    return ports !== null && armed.isExpressionRefused ? null : { kind: 'failed', problem: armed.problem, curl: null }
  }
  view.armed()
  if (signal.aborted) return { kind: 'stopped', curl: null }
  const curl = startCurl({ ...injection, localPorts: ports, mayReadInput: plan.mayReadInput })
  const stopCurl = () => curl.stop()
  signal.addEventListener('abort', stopCurl)
  try {
    const curlEnd = await Promise.race([curl.ended, armed.ended.then(() => null)])
    if (curlEnd === null) return await afterStream(await armed.ended, curl)
    if (ports !== null && couldNotBind(curlEnd)) return null
    return await afterCurl({ scene, armed, firstEvent, curlEnd })
  } finally {
    signal.removeEventListener('abort', stopCurl)
    armed.close()
  }
}

async function afterStream(end: StreamEnd, curl: ReturnType<typeof startCurl>): Promise<TraceOutcome> {
  if (end.kind !== 'finished') curl.stop()
  return { ...end, curl: await curl.ended }
}

interface CurlFirst {
  scene: Scene
  armed: Extract<Armed, { ok: true }>
  firstEvent: Promise<void>
  curlEnd: CurlEnd
}

async function afterCurl({ scene, armed, firstEvent, curlEnd }: CurlFirst): Promise<TraceOutcome> {
  const { plan, injection } = scene
  const waitMs = hasSentNothing(curlEnd) ? 0 : FIRST_EVENT_WITHIN_MS
  const timer = new AbortController()
  const late = delay(waitMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const)
  const first = await Promise.race([firstEvent, armed.ended, late])
  timer.abort()
  if (first !== 'late') return { ...(await armed.ended), curl: curlEnd }
  const problem =
    curlProblem(curlEnd, injection) ??
    `curl got its answer, but ${plan.admin.label} traced no such request: is ${injection.port} a port of this gateway` +
      `${plan.expression === null ? '' : ', does --expression fit the request'}, and is no other trace waiting?`
  return { kind: 'failed', problem, curl: curlEnd }
}
