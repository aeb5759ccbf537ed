import { chooseCandidate, keepUntilClosed, MAX_TRIES, type Candidate, type CandidateChoice } from './balanced-call.ts'
import { type ConnectDone, type UpstreamCall, UpstreamError } from '../upstream-types.ts'

/** A dedicated connection to one of several addresses. */
export class BalancedConnect implements UpstreamCall {
  readonly #options: CandidateChoice
  readonly #done: ConnectDone
  #candidates: readonly Candidate[] = []
  #tries = 0
  #cancelDial: () => void = () => {}
  #cancelled = false

  constructor(options: CandidateChoice, done: ConnectDone) {
    this.#options = options
    this.#done = done
  }

  start(error: UpstreamError | null, candidates: readonly Candidate[]): void {
    if (this.#cancelled) return
    if (error !== null) return this.#done(error)
    this.#candidates = candidates
    this.#try()
  }

  #try(): void {
    const candidate = chooseCandidate(this.#candidates, this.#options)
    if (this.#options.watcher.leadsBack?.(candidate.endpoint.name) === true) {
      return this.#done(new UpstreamError('loop_detected', 'loop detected', true))
    }
    const lease = this.#options.endpoints.lease(this.#options.owner, candidate.endpoint)
    this.#tries++
    this.#cancelDial = candidate.pool.connect(this.#options.watcher, (outcome) => {
      if (this.#cancelled) {
        lease.ended()
        if (!(outcome instanceof UpstreamError)) outcome.destroy()
      } else if (!(outcome instanceof UpstreamError)) {
        keepUntilClosed(lease, outcome)
        this.#done(outcome)
      } else {
        lease.failed()
        this.#candidates = this.#candidates.filter((other) => other !== candidate)
        if (this.#candidates.length === 0 || this.#tries >= MAX_TRIES) this.#done(outcome)
        else this.#try()
      }
    })
  }

  cancel(): void {
    this.#cancelled = true
    this.#cancelDial()
  }
}
