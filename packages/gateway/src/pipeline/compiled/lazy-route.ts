import type { CompiledRoute, PickBackend } from './compiled.ts'

/** The parts of a route that are compiled for its first request. */
export type MadeRoute = Pick<
  CompiledRoute,
  'request' | 'response' | 'done' | 'effectivePolicy' | 'backends' | 'pick' | 'admits' | 'count' | 'tellFailure'
>

/** The newest services to compile routes with, for all routes that generations share. */
export interface CurrentParts<Parts> {
  current: Parts
}

/** A route that is compiled for its first request, because most of ten thousand routes never get one. */
export class LazyRoute<Parts> implements CompiledRoute {
  readonly key: string
  readonly name: string
  readonly rule: string
  #recipe: { make: (parts: Parts) => MadeRoute; parts: CurrentParts<Parts> } | null
  #made: MadeRoute | null = null

  constructor(
    { key, name, rule }: Pick<CompiledRoute, 'key' | 'name' | 'rule'>,
    make: (parts: Parts) => MadeRoute,
    parts: CurrentParts<Parts>,
  ) {
    this.key = key
    this.name = name
    this.rule = rule
    this.#recipe = { make, parts }
  }

  /** Keeps the services of this generation: the route is not part of later ones. */
  pin(parts: Parts): void {
    if (this.#recipe !== null) this.#recipe.parts = { current: parts }
  }

  make(): MadeRoute {
    if (this.#made !== null) return this.#made
    const recipe = this.#recipe
    if (recipe === null) throw new Error('a route is made once')
    this.#made = recipe.make(recipe.parts.current)
    this.#recipe = null
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

  get admits(): CompiledRoute['admits'] {
    return this.make().admits
  }

  get count(): CompiledRoute['count'] {
    return this.make().count
  }

  get tellFailure(): CompiledRoute['tellFailure'] {
    return this.make().tellFailure
  }
}

/** Picks in proportion to the weights; null when all weights are zero. */
export function weightedPicker(weights: readonly number[]): PickBackend | null {
  const shares: { index: number; upTo: number }[] = []
  let total = 0
  weights.forEach((weight, index) => {
    if (weight <= 0) return
    total += weight
    shares.push({ index, upTo: total })
  })
  const last = shares.at(-1)
  if (last === undefined) return null
  if (shares.length === 1) return () => last.index
  return (random, wanted) => {
    if (wanted !== undefined && shares.some(({ index }) => index === wanted)) return wanted
    const point = random * total
    for (const { index, upTo } of shares) if (point < upTo) return index
    // The last entry takes what is left, so rounding can never fall off the end.
    return last.index
  }
}

/** Returns the index of the backend to call, or -1 without one; `sticky` names the backend of the client's session. */
export function pickBackend(
  { pick, backends }: { pick: PickBackend | null; backends: readonly { key: string }[] },
  sticky: { readonly backend: string } | null,
  random: () => number,
): number {
  if (pick === null) return -1
  if (backends.length === 1) return pick(0)
  if (sticky === null) return pick(random())
  return pick(
    random(),
    backends.findIndex(({ key }) => key === sticky.backend),
  )
}
