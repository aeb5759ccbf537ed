import type { Logger } from '../../../telemetry/log/logger.ts'
import { BadMessage, readMessage } from '../../protocol.ts'
import type { TargetFailure } from '../../transport.ts'
import type { ProcessSpec } from '../../hub.ts'
import type { ProcessFromWorker, ProcessToWorker } from '../hub-messages.ts'
import { contentOf } from '../process-content.ts'
import { PerSessionTarget } from './per-session-target.ts'
import type { ProcessTarget } from './process-target.ts'
import { RemoteWaiter } from '../../remote/remote-waiter.ts'
import type { TargetSession } from './target-session.ts'
import { SharedTarget } from './shared-target.ts'

/** All stdio processes of the gateway. They belong to the main thread, so that they outlive workers. */
export class Processes {
  readonly #log: Logger
  readonly #targetsByContent = new Map<string, ProcessTarget>()
  /** The targets that the config has dropped, and that have not ended yet. */
  readonly #retired = new Set<ProcessTarget>()
  readonly #workers = new Map<number, WorkerCalls>()
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
        const { owner, waiter } = this.#attend(caller, message, post)
        const request = readMessage(Buffer.from(message.text))
        return request instanceof BadMessage ? waiter.failed(notSent(request)) : owner.request(request, waiter)
      }
      case 'listen': {
        const { owner, waiter } = this.#attend(caller, message, post)
        return owner.listen(waiter)
      }
      case 'tell': {
        const told = readMessage(Buffer.from(message.text))
        const done = (failure: TargetFailure | null): void => post({ kind: 'told', call: message.call, failure })
        if (told instanceof BadMessage) return done(notSent(told))
        return this.#targetOf(caller, message.spec).sessionLink(message.session).tell(told, done)
      }
      case 'end':
        return this.#targetOf(caller, message.spec).end(message.session)
      case 'cancel': {
        const call = caller.calls.get(message.call)
        caller.calls.delete(message.call)
        return call?.owner.forget(call.waiter)
      }
      case 'took':
        return caller.calls.get(message.call)?.waiter.took(message.bytes)
    }
  }

  died(worker: number): void {
    const caller = this.#workers.get(worker)
    this.#workers.delete(worker)
    for (const { owner, waiter } of caller?.calls.values() ?? []) owner.forget(waiter)
  }

  /** Retires the targets whose contents are not among these: they are not in the config any more. */
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

  #attend(
    caller: WorkerCalls,
    { spec, session, call }: CallAddress,
    post: (message: ProcessToWorker) => void,
  ): ProcessCall {
    const owner = this.#targetOf(caller, spec).sessionLink(session)
    const waiter = new RemoteWaiter(call, post, () => caller.calls.delete(call))
    const made = { owner, waiter }
    caller.calls.set(call, made)
    return made
  }

  #callerOf(worker: number): WorkerCalls {
    let caller = this.#workers.get(worker)
    if (caller === undefined) {
      caller = { specs: new Map(), calls: new Map() }
      this.#workers.set(worker, caller)
    }
    return caller
  }

  #targetOf(caller: WorkerCalls, number: number): ProcessTarget {
    const known = caller.specs.get(number)
    if (known === undefined) throw new Error(`worker used process spec ${number} before it was assigned`)
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

  /** Ends the processes when the gateway exits. After a SIGKILL of the gateway, they notice that their input is closed. */
  readonly #killAll = (): void => {
    for (const target of this.#targets()) target.kill()
  }
}

/** The specs and calls of a worker, by the worker's own numbers. */
interface WorkerCalls {
  readonly specs: Map<number, { spec: ProcessSpec; content: string }>
  readonly calls: Map<number, ProcessCall>
}

/** A call of a worker, with the session that it belongs to. */
interface ProcessCall {
  readonly owner: TargetSession
  readonly waiter: RemoteWaiter
}

interface CallAddress {
  spec: number
  session: string
  call: number
}

function notSent({ message }: BadMessage): TargetFailure {
  return { code: 'unavailable', message }
}
