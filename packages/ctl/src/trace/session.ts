import { setTimeout as delay } from 'node:timers/promises'
import { armFirst } from './arm-first.ts'
import type { ArmResult, StreamEnd } from './client.ts'
import { couldNotBind, type CurlEnd, curlProblem, hasSentNothing, type Injection, startCurl } from './curl.ts'
import type { TraceEvent } from './event.ts'
import { type Origin, pickLocalPorts, requestFilter } from './local-ports.ts'
import type { TraceRequest } from './plan.ts'

interface TracePlan extends TraceRequest {
  /** Whether curl may read standard input: not while the UI reads keys. */
  readonly mayReadInput: boolean
}

interface TraceView {
  /** Called when the gateway watches; the request is sent after it returns. */
  armed(problems: readonly string[]): void
  event(event: TraceEvent): void
}

export type TraceOutcome = { readonly curl: CurlEnd | null } & (
  | StreamEnd
  | { readonly kind: 'failed'; readonly problem: string }
)

/** How long after the end of curl the first event may arrive. */
const FIRST_EVENT_WITHIN_MS = 5000

/** Traces one request from arming to its end. */
export async function runTrace(plan: TracePlan, view: TraceView, signal: AbortSignal): Promise<TraceOutcome> {
  const { injection } = plan
  const outcome = await (injection === null ? watch(plan, view, signal) : inject({ plan, injection, view, signal }))
  return signal.aborted && outcome.kind !== 'finished' ? { kind: 'stopped', curl: null } : outcome
}

async function watch(plan: TracePlan, view: TraceView, signal: AbortSignal): Promise<TraceOutcome> {
  const armed = await armFirst({ ...plan, onEvent: (event) => view.event(event), signal })
  if (!armed.ok) return { kind: 'failed', problem: armed.problem, curl: null }
  view.armed(armed.problems)
  return { ...(await armed.ended), curl: null }
}

interface Scene {
  plan: TracePlan
  injection: Injection
  view: TraceView
  signal: AbortSignal
}

async function inject(scene: Scene): Promise<TraceOutcome> {
  const { via, args } = scene.injection
  const origin = via === undefined ? pickLocalPorts(args) : 'loopback'
  const pinned = origin === null ? null : await injectFrom(origin, scene)
  // When the source cannot be set, the next request of any client is traced.
  return pinned ?? injectFrom(null, scene)
}

/**
 * Returns null when no request was sent because the gateway rejected the filter or curl could not bind its source
 * ports.
 */
async function injectFrom(origin: null, scene: Scene): Promise<TraceOutcome>
async function injectFrom(origin: Origin, scene: Scene): Promise<TraceOutcome | null>
async function injectFrom(origin: Origin, scene: Scene): Promise<TraceOutcome | null> {
  const { plan, injection, view, signal } = scene
  const { promise: firstEvent, resolve: sawEvent } = Promise.withResolvers<void>()
  const [admin] = plan.admins
  const armed = await armFirst({
    ...plan,
    admins: [admin],
    expression: requestFilter(plan.expression, origin),
    onEvent(event) {
      sawEvent()
      view.event(event)
    },
    signal,
  })
  if (!armed.ok) {
    return origin !== null && armed.isExpressionRefused ? null : { kind: 'failed', problem: armed.problem, curl: null }
  }
  view.armed([])
  if (signal.aborted) return { kind: 'stopped', curl: null }
  const localPorts = origin === 'loopback' ? null : origin
  const curl = startCurl({ ...injection, localPorts, mayReadInput: plan.mayReadInput })
  const stopCurl = () => curl.stop()
  signal.addEventListener('abort', stopCurl)
  try {
    const curlEnd = await Promise.race([curl.ended, armed.ended.then(() => null)])
    if (curlEnd === null) return await afterStream(await armed.ended, curl)
    if (localPorts !== null && couldNotBind(curlEnd)) return null
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
  armed: Extract<ArmResult, { ok: true }>
  firstEvent: Promise<void>
  curlEnd: CurlEnd
}

async function afterCurl({ scene, armed, firstEvent, curlEnd }: CurlFirst): Promise<TraceOutcome> {
  const { plan, injection } = scene
  const waitMs = hasSentNothing(curlEnd, injection) ? 0 : FIRST_EVENT_WITHIN_MS
  const timer = new AbortController()
  const late = delay(waitMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const)
  const first = await Promise.race([firstEvent, armed.ended, late])
  timer.abort()
  if (first !== 'late') return { ...(await armed.ended), curl: curlEnd }
  const problem =
    curlProblem(curlEnd, injection) ??
    `curl got a response, but ${plan.admins[0].label} traced no such request: is ${injection.port} a port of this gateway` +
      `${plan.expression === null ? '' : ', does --expression match the request'}, and is no other trace waiting?`
  return { kind: 'failed', problem, curl: curlEnd }
}
