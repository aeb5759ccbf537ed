import { Deadline, ObservedBody } from '@portico/http'
import { contained } from '@portico/http/faults'
import type { ShadowOutcome } from '../../records/shadow-outcome.ts'
import type { RequestContext, RequestShadows } from '../context/request-context.ts'
import type { Env, Step, StepResult } from '../context/step.ts'
import { AllowedShadows } from './allowed-shadows.ts'
import { BranchBody } from './branch-body.ts'
import { forkRequest, keepResults, type ShadowResults } from './fork.ts'
import { unknownOutcome } from './verdict.ts'

export type ShadowServices = Pick<Env, 'countShadow' | 'deadlines' | 'maxBufferBytes'>

/** A step that has run on a copy of the request, and waits for the end of the request. */
interface UndoneStep {
  readonly done: NonNullable<Step['done']>
  readonly fork: RequestContext
}

const NOTHING_UNDONE: readonly UndoneStep[] = []
const allowedShadows = new AllowedShadows()
const NO_BRANCHES: readonly BranchBody[] = []
const NO_OUTCOMES: readonly ShadowOutcome[] = []

/** The shadow policies of one request: their outcomes, and the copies of the request that the policies ran on. */
export class ShadowsOfRequest implements RequestShadows {
  /** Null until the first outcome: most requests have one outcome, and an array that holds one is small. */
  #outcomes: ShadowOutcome[] | null = null
  readonly #services: ShadowServices
  /** Copies of the request whose steps still need their `done` call at the end of the request. */
  #undone: readonly UndoneStep[] = NOTHING_UNDONE
  /** Copies of the request body that do not receive bytes yet. */
  #branches: readonly BranchBody[] = NO_BRANCHES
  #results: ShadowResults | null = null
  /** Settles when the last running shadow policy has ended; null when none is running. */
  #last: Promise<void> | null = null
  /** The number of outcomes at the start of the list that other code has counted in metrics. */
  #counted = 0
  #pending = 0
  #finish: (() => void) | null = null
  #deadline: Deadline | null = null

  constructor(services: ShadowServices) {
    this.#services = services
  }

  /** Returns the shadow policies of a request; the first call creates them. */
  static of(rx: RequestContext, services: ShadowServices): ShadowsOfRequest {
    if (rx.shadows instanceof ShadowsOfRequest) return rx.shadows
    return (rx.shadows = new ShadowsOfRequest(services))
  }

  get outcomes(): readonly ShadowOutcome[] {
    return this.#outcomes ?? NO_OUTCOMES
  }

  get allowedDetails(): string | null {
    return allowedShadows.of(this.outcomes)
  }

  /**
   * Whether earlier shadow policies have left results, or may still do so. Only copies of the request contain such
   * results.
   */
  get hasResults(): boolean {
    return this.#results !== null || this.#last !== null
  }

  fork(rx: RequestContext, policy: string, done: Step['done']): RequestContext {
    const fork = forkRequest(rx, this.#results ?? {}, (length) => {
      const branch = new BranchBody(length, this.#services.maxBufferBytes)
      this.#branches = [...this.#branches, branch]
      return branch
    })
    if (rx.trace !== null) fork.trace = rx.trace.shadowOf(policy)
    if (done !== undefined) this.#undone = [...this.#undone, { done, fork }]
    return fork
  }

  /**
   * Runs a shadow policy on its copy of the request. It starts when earlier shadow policies have ended, so that it sees
   * their results. The request does not wait.
   */
  run(fork: RequestContext, step: (fork: RequestContext) => StepResult): StepResult {
    const last = this.#last
    if (last === null) return step(fork)
    return last.then(() => {
      Object.assign(fork, this.#results)
      return step(fork)
    })
  }

  /** Makes later shadow policies wait for the end of this one. */
  follow(shadow: Promise<void>): void {
    this.#last = shadow
    void shadow.finally(() => {
      if (this.#last === shadow) this.#last = null
    })
  }

  keep(rx: RequestContext, fork: RequestContext, before: ShadowResults): void {
    const results = this.#results ?? {}
    keepResults(before, fork, results)
    // A model call charges tokens until its response ends, so the request also charges the token limits of shadow policies.
    if (fork.tokenAccounts.length > 0) rx.tokenAccounts = [...rx.tokenAccounts, ...fork.tokenAccounts]
    if (Object.keys(results).length > 0) this.#results = results
  }

  /** Adds an outcome, and returns the number of outcomes. */
  add(outcome: ShadowOutcome): number {
    if (this.#outcomes !== null) return this.#outcomes.push(outcome)
    this.#outcomes = [outcome]
    return 1
  }

  /**
   * Adds the outcome of a shadow policy for the connection as the first outcome of a request. Metrics have counted the
   * outcome.
   */
  addCounted(outcome: ShadowOutcome): void {
    this.#counted = this.add(outcome)
  }

  /** Adds a shadow policy without an outcome; returns the function that sets the outcome, which works once. */
  begin(policy: string): (outcome: ShadowOutcome) => boolean {
    const index = this.add(unknownOutcome(policy, 'none before its time was over')) - 1
    this.#pending++
    let isSet = false
    return (outcome) => {
      if (isSet || this.#pending === 0) return false
      isSet = true
      if (this.#outcomes !== null) this.#outcomes[index] = outcome
      if (--this.#pending === 0) this.#tell()
      return true
    }
  }

  calling(rx: RequestContext): void {
    const branches = this.#branches
    if (branches.length === 0) return
    this.#branches = NO_BRANCHES
    const whole = rx.bufferedBody?.whole ?? null
    for (const branch of branches) {
      if (whole === null) rx.body = new ObservedBody(rx.body, branch)
      else {
        branch.chunk(whole)
        branch.over(true)
      }
    }
  }

  finish(rx: RequestContext, done: () => void): void {
    for (const branch of this.#branches) branch.over(false)
    this.#branches = NO_BRANCHES
    for (const { done: stepDone, fork } of this.#undone) {
      fork.llm = rx.llm
      fork.mcp = rx.mcp
      fork.status = rx.status
      fork.durationMs = rx.durationMs
      contained('request', () => stepDone(fork))
    }
    if (this.#pending === 0) return this.#conclude(rx, done)
    this.#finish = () => this.#conclude(rx, done)
    this.#deadline = new Deadline(() => this.#expire())
    this.#services.deadlines.set(this.#deadline, MOST_WAIT_MS)
  }

  #conclude(rx: RequestContext, done: () => void): void {
    const { outcomes } = this
    const uncounted = this.#counted === 0 ? outcomes : outcomes.slice(this.#counted)
    for (const { policy, outcome } of uncounted) {
      this.#services.countShadow(policy, rx.routeName ?? 'unknown', outcome)
    }
    done()
  }

  #expire(): void {
    this.#pending = 0
    this.#tell()
  }

  #tell(): void {
    const finish = this.#finish
    if (finish === null) return
    this.#finish = null
    if (this.#deadline !== null) this.#services.deadlines.clear(this.#deadline)
    finish()
  }
}

/**
 * The longest wait for shadow policies. A slower shadow policy has the outcome `unknown`, so that records and logs are
 * not late.
 */
const MOST_WAIT_MS = 10_000
