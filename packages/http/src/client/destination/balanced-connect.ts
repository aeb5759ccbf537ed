import { chooseWay, keepUntilClosed, MAX_TRIES, type Way, type WayChoice } from './balanced-call.ts'
import { type ConnectDone, type UpstreamCall, UpstreamError } from '../upstream-types.ts'

/** A dedicated connection to one of several addresses. */
export class BalancedConnect implements UpstreamCall {
  readonly #options: WayChoice
  readonly #done: ConnectDone
  #ways: readonly Way[] = []
  #tries = 0
  #cancelDial: () => void = () => {}
  #cancelled = false

  constructor(options: WayChoice, done: ConnectDone) {
    this.#options = options
    this.#done = done
  }

  start(error: UpstreamError | null, ways: readonly Way[]): void {
    if (this.#cancelled) return
    if (error !== null) return this.#done(error)
    this.#ways = ways
    this.#try()
  }

  #try(): void {
    const way = chooseWay(this.#ways, this.#options)
    if (this.#options.watcher.leadsBack?.(way.endpoint.name) === true) {
      return this.#done(new UpstreamError('loop_detected', 'loop detected', true))
    }
    const visit = this.#options.endpoints.visit(this.#options.owner, way.endpoint)
    this.#tries++
    this.#cancelDial = way.pool.connect(this.#options.watcher, (outcome) => {
      if (this.#cancelled) {
        visit.ended()
        if (!(outcome instanceof UpstreamError)) outcome.destroy()
      } else if (!(outcome instanceof UpstreamError)) {
        keepUntilClosed(visit, outcome)
        this.#done(outcome)
      } else {
        visit.failed()
        this.#ways = this.#ways.filter((other) => other !== way)
        if (this.#ways.length === 0 || this.#tries >= MAX_TRIES) this.#done(outcome)
        else this.#try()
      }
    })
  }

  cancel(): void {
    this.#cancelled = true
    this.#cancelDial()
  }
}
