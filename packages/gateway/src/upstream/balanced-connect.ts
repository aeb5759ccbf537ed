import type { Socket } from 'node:net'
import { chooseWay, keepUntilClosed, MAX_TRIES, type Way, type WayChoice } from './balanced-call.ts'
import type { UpstreamCall, UpstreamError } from './upstream-types.ts'

export type Connected = (error: UpstreamError | null, socket: Socket | null) => void

/** A connection of its own to one of several addresses. */
export class BalancedConnect implements UpstreamCall {
  readonly #options: WayChoice
  readonly #done: Connected
  #ways: readonly Way[] = []
  #tries = 0
  #cancelDial: () => void = () => {}
  #cancelled = false

  constructor(options: WayChoice, done: Connected) {
    this.#options = options
    this.#done = done
  }

  start(error: UpstreamError | null, ways: readonly Way[]): void {
    if (this.#cancelled) return
    if (error !== null) return this.#done(error, null)
    this.#ways = ways
    this.#try()
  }

  #try(): void {
    const way = chooseWay(this.#ways, this.#options)
    const visit = this.#options.endpoints.visit(this.#options.owner, way.endpoint)
    this.#tries++
    this.#cancelDial = way.pool.connect((error, socket) => {
      if (this.#cancelled) {
        visit.ended()
        socket?.destroy()
      } else if (socket !== null) {
        keepUntilClosed(visit, socket)
        this.#done(null, socket)
      } else {
        visit.failed()
        this.#ways = this.#ways.filter((other) => other !== way)
        if (this.#ways.length === 0 || this.#tries >= MAX_TRIES) this.#done(error, null)
        else this.#try()
      }
    })
  }

  cancel(): void {
    this.#cancelled = true
    this.#cancelDial()
  }
}
