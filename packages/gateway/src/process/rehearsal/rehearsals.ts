import { randomBytes } from 'node:crypto'
import type { RehearsalRefusal, RehearsalRequest, RehearsalSource } from '../../admin/rehearsal/rehearsal-api.ts'
import type {
  EndedRehearsalView,
  RehearsalEnd,
  RehearsalStateView,
  RehearsalView,
} from '../../admin/rehearsal/rehearsal-view.ts'
import type { KeysSource } from '../../admin/keys/keys-routes.ts'
import type { AttachedPolicy } from '../../ir/resources.ts'
import type { BackendRehearsal } from '../../pipeline/policy/rehearsal.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import type { Gateway } from '../config/gateway.ts'
import { findTargets } from './rehearsal-targets.ts'

interface RehearsalParts {
  readonly gateway: Pick<Gateway, 'changePolicies'>
  /** Makes the new config generation share the text of the previous generation. */
  readonly repeated: (generation: number, before: number) => void
  /** Returns the store of keys, which keeps the list of changes; null without `config.keys`. */
  readonly keys: () => KeysSource | null
  readonly collector: Collector
  readonly log: Logger
}

interface Running {
  readonly view: RehearsalView
  /** The end of the lease, on the clock of `performance.now`. */
  leaseUntil: number
  timer: NodeJS.Timeout | undefined
  /** Resolves when the rehearsal has ended; null while the rehearsal runs. */
  ending: Promise<EndedRehearsalView> | null
}

/** Runs one rehearsal at a time. A rehearsal ends with its duration, its lease or its config. */
export class Rehearsals implements RehearsalSource {
  readonly #parts: RehearsalParts
  #current: Running | null = null
  #isStarting = false
  #last: EndedRehearsalView | null = null

  constructor(parts: RehearsalParts) {
    this.#parts = parts
    parts.collector.provide('rehearsal_active', [], () => (this.#current === null ? 0 : 1))
  }

  state(): RehearsalStateView {
    return { current: this.#current?.view ?? null, last: this.#last }
  }

  async start(request: RehearsalRequest, by: string): Promise<RehearsalView | RehearsalRefusal> {
    if (this.#isStarting) return { status: 409, problem: 'another rehearsal is about to start' }
    if (this.#current !== null) return alreadyRuns(this.#current.view)
    this.#isStarting = true
    try {
      return await this.#start(request, by)
    } finally {
      this.#isStarting = false
    }
  }

  async #start(request: RehearsalRequest, by: string): Promise<RehearsalView | RehearsalRefusal> {
    const { backend, route, status = null, delay: delayMs = null, percentage, for: lastsMs, lease: leaseMs } = request
    const subject =
      route === undefined ? { kind: 'backend' as const, name: backend ?? '' } : { kind: 'route' as const, name: route }
    const startedAt = Date.now()
    const begun = { id: randomBytes(4).toString('hex'), subject, by, percentage, delayMs, status, startedAt, leaseMs }
    const rehearsal = { id: begun.id, percentage, delayMs, status, endsAt: startedAt + lastsMs }
    // Another config may go live before this change gets its turn, so targets are looked up in the config of that moment.
    let routes: readonly string[] = []
    let refusal: RehearsalRefusal | null = null
    const { gateway, repeated, log } = this.#parts
    const changed = await gateway.changePolicies((ir) => {
      const found = findTargets(ir, subject)
      if ('problem' in found) {
        refusal = found
        return null
      }
      routes = found.routes
      return [...ir.policies, ...found.keys.map((key) => policyFor(key, rehearsal))]
    })
    if (refusal !== null) return refusal
    if ('problem' in changed) return { status: 503, problem: changed.problem }
    repeated(changed.generation, changed.before)
    const view: RehearsalView = { ...begun, endsAt: rehearsal.endsAt, routes }
    const running: Running = { view, leaseUntil: performance.now() + leaseMs, timer: undefined, ending: null }
    this.#current = running
    this.#watch(running)
    log.warn('rehearsal started', { ...logged(view), for: `${lastsMs}ms`, by })
    this.#note('start', view, by, { ...view })
    return view
  }

  renew(id: string): RehearsalView | RehearsalRefusal {
    const running = this.#current
    if (running === null || running.view.id !== id || running.ending !== null) return this.#notRunning(id)
    running.leaseUntil = performance.now() + running.view.leaseMs
    this.#watch(running)
    return running.view
  }

  async end(id: string | null, by: string): Promise<EndedRehearsalView | RehearsalRefusal> {
    const running = this.#current
    if (running === null || (id !== null && running.view.id !== id)) return this.#notRunning(id)
    return this.#end(running, 'ended', by)
  }

  /** Called when another config went live, which lacks the policies of the rehearsal. */
  configChanged(): void {
    const running = this.#current
    if (running !== null && running.ending === null) this.#over(running, 'config', THE_GATEWAY)
  }

  #notRunning(id: string | null): RehearsalRefusal {
    const last = this.#last
    if (last === null || (id !== null && last.id !== id)) return { status: 410, problem: 'no such rehearsal runs' }
    return { status: 410, problem: `the rehearsal is over: ${ENDS[last.end]}` }
  }

  /** Ends the rehearsal when nothing renews it in time. */
  #watch(running: Running): void {
    clearTimeout(running.timer)
    const toEnd = running.view.endsAt - Date.now()
    const toLease = running.leaseUntil - performance.now()
    const end = toEnd <= toLease ? 'time' : 'lease'
    running.timer = setTimeout(
      () => void this.#end(running, end, THE_GATEWAY),
      Math.max(0, Math.ceil(Math.min(toEnd, toLease))),
    )
  }

  #end(running: Running, end: RehearsalEnd, by: string): Promise<EndedRehearsalView> {
    clearTimeout(running.timer)
    return (running.ending ??= this.#remove(running, end, by))
  }

  async #remove(running: Running, end: RehearsalEnd, by: string): Promise<EndedRehearsalView> {
    const { gateway, repeated, log } = this.#parts
    for (;;) {
      const changed = await gateway.changePolicies(({ policies }) =>
        policies.filter(({ backend }) => backend?.rehearsal?.id !== running.view.id),
      )
      if (!('problem' in changed)) {
        repeated(changed.generation, changed.before)
        return this.#over(running, end, by)
      }
      log.error('rehearsal could not be ended yet', { id: running.view.id, cause: changed.problem })
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }

  #over(running: Running, end: RehearsalEnd, by: string): EndedRehearsalView {
    clearTimeout(running.timer)
    const { view } = running
    const ended = { ...view, endedAt: Date.now(), end }
    if (this.#current === running) this.#current = null
    this.#last = ended
    this.#parts.log.warn('rehearsal ended', { ...logged(view), reason: ENDS[end], by })
    this.#note('end', view, by, { end })
    return ended
  }

  #note(action: 'start' | 'end', view: RehearsalView, by: string, after: object): void {
    const keys = this.#parts.keys()
    if (keys === null) return
    const entry = {
      ...{ at: new Date().toISOString(), by, action, kind: 'rehearsal' as const, name: view.subject.name },
      ...{ before: null, after: { id: view.id, ...after } },
    }
    keys.ask({ ask: 'note', entry }).then(
      (answer) => {
        if ('refused' in answer) this.#parts.log.error('rehearsal is not in the list of changes', { id: view.id })
      },
      (error: unknown) =>
        this.#parts.log.error('rehearsal is not in the list of changes', { id: view.id, error: String(error) }),
    )
  }
}

function policyFor(key: string, rehearsal: BackendRehearsal): AttachedPolicy {
  return {
    key: `rehearsal/${rehearsal.id}/${key}`,
    target: { kind: 'backend', key },
    frontend: null,
    traffic: null,
    phase: 'PostRouting',
    backend: { rehearsal },
  }
}

function alreadyRuns({ id, subject, by, endsAt }: RehearsalView): RehearsalRefusal {
  const until = new Date(endsAt).toISOString()
  const what = `the ${subject.kind} ${subject.name}`
  return { status: 409, problem: `the rehearsal ${id} of ${what} runs until ${until}, started by ${by}` }
}

function logged({ id, subject, percentage, delayMs, status }: RehearsalView): Record<string, unknown> {
  return {
    ...{ id, [subject.kind]: subject.name, percentage },
    ...(delayMs !== null && { delay: `${delayMs}ms` }),
    ...(status !== null && { status }),
  }
}

const THE_GATEWAY = 'the gateway'
const AGAIN_MS = 1_000
const ENDS: Readonly<Record<RehearsalEnd, string>> = {
  ended: 'it was ended',
  time: 'its time is over',
  lease: 'its lease was not renewed',
  config: 'another config became active',
}
