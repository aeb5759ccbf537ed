import type { CompiledRoute } from '../compiled.ts'

/** What is put together late. */
export type MadeRoute = Pick<
  CompiledRoute,
  'request' | 'response' | 'done' | 'effectivePolicy' | 'backends' | 'pick' | 'count' | 'tellFailure'
>

/** A route that is put together when the first request meets it: of ten thousand routes most are never asked for. */
export class LazyRoute implements CompiledRoute {
  readonly key: string
  readonly name: string
  readonly rule: string
  #make: (() => MadeRoute) | null
  #made: MadeRoute | null = null

  constructor({ key, name, rule }: Pick<CompiledRoute, 'key' | 'name' | 'rule'>, make: () => MadeRoute) {
    this.key = key
    this.name = name
    this.rule = rule
    this.#make = make
  }

  /** Whether it has been put together: until then it holds on to its whole generation. */
  get isMade(): boolean {
    return this.#made !== null
  }

  make(): MadeRoute {
    if (this.#made !== null) return this.#made
    this.#made = this.#make!()
    this.#make = null
    return this.#made
  }

  get request(): CompiledRoute['request'] {
    return this.make().request
  }

  get done(): CompiledRoute['done'] {
    return this.make().done
  }

  get effectivePolicy(): CompiledRoute['effectivePolicy'] {
    return this.make().effectivePolicy
  }

  get response(): CompiledRoute['response'] {
    return this.make().response
  }

  get backends(): CompiledRoute['backends'] {
    return this.make().backends
  }

  get pick(): CompiledRoute['pick'] {
    return this.make().pick
  }

  get count(): CompiledRoute['count'] {
    return this.make().count
  }

  get tellFailure(): CompiledRoute['tellFailure'] {
    return this.make().tellFailure
  }
}
