import type { Logger } from '../../../telemetry/log/logger.ts'
import { BadMessage, readMessage } from '../../message.ts'
import type { TargetFailure } from '../../transport.ts'
import type { ProcessSpec } from '../../hub.ts'
import type { ProcessFromWorker, ProcessToWorker } from '../hub-messages.ts'
import { contentOf } from '../process-content.ts'
import { PerSessionTarget } from './per-session-target.ts'
import type { ProcessTarget } from './process-target.ts'
import { RemoteWaiter } from '../../remote/remote-waiter.ts'
import type { Seat } from './seat.ts'
import { SharedTarget } from './shared-target.ts'

/** All processes of the gateway. The main thread has them, so that they outlive workers. */
export class Processes {
  readonly #log: Logger
  readonly #targetsByContent = new Map<string, ProcessTarget>()
  /** Lost by the config, but not yet gone. */
  readonly #retired = new Set<ProcessTarget>()
  readonly #workers = new Map<number, Caller>()
  #isClosed = false

  constructor(log: Logger) {
    this.#log = log
    process.on('exit', this.#killAll)
  }

  received(worker: number, message: ProcessFromWorker, post: (message: ProcessToWorker) => void): void {
    if (this.#isClosed) return
    const caller = this.#callerOf(worker)
    switch (message.kind) {
      case 'spec':
        caller.specs.set(message.spec, { spec: message.content, content: contentOf(message.content) })
        return
      case 'request': {
        const { seat, waiter } = this.#attend(caller, message, post)
        const request = readMessage(Buffer.from(message.text))
        return request instanceof BadMessage ? waiter.failed(notSent(request)) : seat.request(request, waiter)
      }
      case 'listen': {
        const { seat, waiter } = this.#attend(caller, message, post)
        return seat.listen(waiter)
      }
      case 'tell': {
        const told = readMessage(Buffer.from(message.text))
        const done = (failure: TargetFailure | null): void => post({ kind: 'told', call: message.call, failure })
        if (told instanceof BadMessage) return done(notSent(told))
        return this.#targetOf(caller, message.spec).seat(message.session).tell(told, done)
      }
      case 'end':
        return this.#targetOf(caller, message.spec).end(message.session)
      case 'cancel': {
        const call = caller.calls.get(message.call)
        caller.calls.delete(message.call)
        return call?.seat.forget(call.waiter)
      }
      case 'took':
        return caller.calls.get(message.call)?.waiter.took(message.bytes)
    }
  }

  died(worker: number): void {
    const caller = this.#workers.get(worker)
    this.#workers.delete(worker)
    for (const { seat, waiter } of caller?.calls.values() ?? []) seat.forget(waiter)
  }

  /** Targets of other contents are not in the config any more. */
  keep(contents: ReadonlySet<string>): void {
    for (const target of this.#retired) if (target.isEmpty) this.#retired.delete(target)
    for (const [content, target] of this.#targetsByContent) {
      if (contents.has(content)) continue
      this.#targetsByContent.delete(content)
      this.#retired.add(target)
      target.retire()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#targets()].map((target) => target.close()))
    process.off('exit', this.#killAll)
  }

  #attend(caller: Caller, { spec, session, call }: Place, post: (message: ProcessToWorker) => void): Attended {
    const seat = this.#targetOf(caller, spec).seat(session)
    const waiter = new RemoteWaiter(call, post, () => caller.calls.delete(call))
    const attended = { seat, waiter }
    caller.calls.set(call, attended)
    return attended
  }

  #callerOf(worker: number): Caller {
    let caller = this.#workers.get(worker)
    if (caller === undefined) {
      caller = { specs: new Map(), calls: new Map() }
      this.#workers.set(worker, caller)
    }
    return caller
  }

  #targetOf(caller: Caller, number: number): ProcessTarget {
    const known = caller.specs.get(number)
    if (known === undefined) throw new Error(`worker named process ${number} before it told what that is`)
    const { spec, content } = known
    let target = this.#targetsByContent.get(content)
    if (target === undefined) {
      target = spec.processes === 'Shared' ? new SharedTarget(spec, this.#log) : new PerSessionTarget(spec, this.#log)
      this.#targetsByContent.set(content, target)
    }
    return target
  }

  *#targets(): Generator<ProcessTarget> {
    yield* this.#targetsByContent.values()
    yield* this.#retired
  }

  /** However the gateway ends, its processes end with it; only a kill leaves them to find their input closed. */
  readonly #killAll = (): void => {
    for (const target of this.#targets()) target.kill()
  }
}

/** What a worker has told of itself, by its own numbers. */
interface Caller {
  readonly specs: Map<number, { spec: ProcessSpec; content: string }>
  readonly calls: Map<number, Attended>
}

interface Attended {
  readonly seat: Seat
  readonly waiter: RemoteWaiter
}

interface Place {
  spec: number
  session: string
  call: number
}

function notSent({ message }: BadMessage): TargetFailure {
  return { code: 'unavailable', message }
}
