import { CelError, isMissing } from '../../error.ts'
import { badCondition } from '../../run/logic.ts'
import { badPredicate, itemsOf, keysOfMap, valueAt } from '../../run/loops.ts'
import { exhausted, spend } from '../../run/meter.ts'
import { mapped, notOptional } from '../../run/optionals.ts'
import { isList } from '../../run/type-of.ts'
import { Optional } from '../../value.ts'
import type { MapKey } from '../../value.ts'
import { withOffset } from '../errors.ts'
import { sinks } from '../sinks.ts'
import type { ClosureMakers } from './closure.ts'

type Kind = 'conditional' | 'bind' | 'default' | 'coalesce' | 'orElse' | 'optionalMap' | 'loop'

/** Nodes that decide whether, how often and with which variables their children are evaluated. */
export const flow: ClosureMakers<Kind> = {
  conditional(plan, make) {
    const [test, yes, no] = [make(plan.test), make(plan.yes), make(plan.no)]
    return (scope, locals) => {
      const result = test(scope, locals)
      if (result === true) return yes(scope, locals)
      return result === false ? no(scope, locals) : withOffset(badCondition(result), plan.offset)
    }
  },
  bind(plan, make) {
    const [value, body] = [make(plan.value), make(plan.body)]
    return (scope, locals) => {
      locals[plan.local] = value(scope, locals)
      return body(scope, locals)
    }
  },
  default(plan, make) {
    const [value, fallback] = [make(plan.value), make(plan.fallback)]
    return (scope, locals) => {
      const result = value(scope, locals)
      return result === null || isMissing(result) ? fallback(scope, locals) : result
    }
  },
  coalesce(plan, make) {
    const items = plan.items.map(make)
    return (scope, locals) => {
      for (const item of items) {
        const result = item(scope, locals)
        if (result !== null && !(result instanceof CelError)) return result
      }
      return null
    }
  },
  orElse({ unwrap, offset, ...plan }, make) {
    const [operand, alternative] = [make(plan.operand), make(plan.alternative)]
    return (scope, locals) => {
      const result = operand(scope, locals)
      if (!(result instanceof Optional)) return withOffset(notOptional(result), offset)
      if (result.value === undefined) return alternative(scope, locals)
      return unwrap ? result.value : result
    }
  },
  optionalMap({ local, flat, offset, ...plan }, make) {
    const [operand, body] = [make(plan.operand), make(plan.body)]
    return (scope, locals) => {
      const result = operand(scope, locals)
      if (!(result instanceof Optional)) return withOffset(notOptional(result), offset)
      if (result.value === undefined) return result
      locals[local] = result.value
      return withOffset(mapped(body(scope, locals), flat), offset)
    }
  },
  loop(loop, make) {
    const { offset } = loop
    const [range, body] = [make(loop.range), make(loop.body)]
    const filter = loop.filter && make(loop.filter)
    const [first, second] = loop.locals
    const isMapOnly = loop.values || loop.macro === 'filterKeys'
    return (scope, locals) => {
      const over = range(scope, locals)
      const items = isMapOnly ? keysOfMap(over) : itemsOf(over)
      if (items instanceof CelError) return items.at(offset)
      const sink = sinks[loop.macro]()
      for (const [position, item] of items.entries()) {
        if (!spend(1)) return exhausted
        const key = second !== undefined && isList(over) ? position : (item as MapKey)
        locals[first] = loop.values ? valueAt(over, key) : second === undefined ? item : key
        if (second !== undefined) locals[second] = isList(over) ? item : valueAt(over, key)
        if (filter !== null) {
          const kept = filter(scope, locals)
          if (kept === false) continue
          if (kept !== true) return badPredicate(kept).at(offset)
        }
        const done = sink.take(body(scope, locals), key, over)
        if (done !== undefined) return withOffset(done, offset)
      }
      return withOffset(sink.finish(), offset)
    }
  },
}
