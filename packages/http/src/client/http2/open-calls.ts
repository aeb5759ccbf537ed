import { LinkedSet } from '../../collections/linked-set.ts'
import type { FrameOutput } from '../../http2/output.ts'
import { StreamTable } from '../../http2/stream-table.ts'
import { contained } from '../../runtime/faults.ts'
import type { Http2Call } from './http2-call.ts'

/** The calls in progress on one connection. */
export class OpenCalls {
  readonly all = new LinkedSet<Http2Call>()
  /** The calls that have a stream. */
  readonly streams = new StreamTable<Http2Call>()
  /** The number of calls that have ended. */
  ended = 0
  readonly #output: FrameOutput
  /** Calls that are sent at the end of this turn: when a GOAWAY comes first, the backend has seen none of them. */
  #starting: Http2Call[] = []
  /** Calls that got data in this read. */
  #touched: Http2Call[] = []

  constructor(output: FrameOutput) {
    this.#output = output
  }

  get size(): number {
    return this.all.size
  }

  add(call: Http2Call): void {
    this.all.add(call)
  }

  /** Lets the call start with the next `startAll`; returns whether it is the first such call. */
  startLater(call: Http2Call): boolean {
    return this.#starting.push(call) === 1
  }

  startAll(): void {
    const calls = this.#starting
    this.#starting = []
    for (const call of calls) {
      try {
        call.start()
      } catch (error) {
        call.faulted(error)
      }
    }
  }

  /** Lets the next `flushTouched` deliver the data of the call. */
  touch(call: Http2Call): void {
    const touched = this.#touched
    if (touched[touched.length - 1] !== call) touched.push(call)
  }

  flushTouched(): void {
    const touched = this.#touched
    if (touched.length === 0) return
    this.#touched = []
    for (const call of touched) call.flushResponse()
  }

  /** Closes the stream of a call that has ended. */
  close(call: Http2Call): void {
    call.isClosed = true
    this.ended++
    this.all.delete(call)
    const { output } = call
    if (output.id === 0) return
    this.streams.open.delete(output.id)
    contained('connection', () => this.#output.forget(output))
  }

  /** Fails the calls that the backend does not process: those above the last stream, and those without a stream. */
  disown(lastStream: number, because: string): void {
    for (const call of this.all.list()) {
      if (call.output.id !== 0 && call.output.id <= lastStream) continue
      try {
        this.close(call)
        call.disown(because)
      } catch (error) {
        call.faulted(error)
      }
    }
  }

  /** Lets each call check how long it has waited for its response. */
  look(): void {
    for (const call of this.all.list()) call.look()
  }
}
