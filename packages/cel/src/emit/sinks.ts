import { CelError } from '../error.ts'
import type { LoopMacro } from '../plan.ts'
import { badPredicate, valueAt } from '../run/loops.ts'
import type { MapKey, Result, Value } from '../value.ts'

/** Collects the results of the rounds of a loop. */
interface Sink {
  /** Takes the result of one round; a returned result ends the loop. */
  take(result: Result, key: MapKey, over: Result): Result | undefined
  finish(): Result
}

export const sinks: Readonly<Record<LoopMacro, () => Sink>> = {
  all: () => quantifier(false),
  exists: () => quantifier(true),
  existsOne() {
    let count = 0
    return {
      take(result) {
        if (typeof result !== 'boolean') return badPredicate(result)
        if (result) count++
        return undefined
      },
      finish: () => count === 1,
    }
  },
  toList() {
    const list: Value[] = []
    return {
      take(result) {
        if (result instanceof CelError) return result
        list.push(result)
        return undefined
      },
      finish: () => list,
    }
  },
  toMap() {
    const map = new Map<MapKey, Value>()
    return {
      take(result, key) {
        if (result instanceof CelError) return result
        map.set(key, result)
        return undefined
      },
      finish: () => map,
    }
  },
  filterKeys() {
    const map = new Map<MapKey, Value>()
    return {
      take(result, key, over) {
        if (typeof result !== 'boolean') return badPredicate(result)
        if (result) map.set(key, valueAt(over, key))
        return undefined
      },
      finish: () => map,
    }
  },
}

/** An error is the result only when no item decides. */
function quantifier(decisive: boolean): Sink {
  let failure: CelError | undefined
  return {
    take(result) {
      if (result === decisive) return decisive
      if (typeof result !== 'boolean') failure ??= badPredicate(result)
      return undefined
    },
    finish: () => failure ?? !decisive,
  }
}
