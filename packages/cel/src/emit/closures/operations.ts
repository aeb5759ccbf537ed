import type { FunctionDefinition } from '../../declarations.ts'
import { CelError } from '../../error.ts'
import type { CallNode } from '../../plan.ts'
import { negate } from '../../run/arithmetic.ts'
import { makeList, makeMap } from '../../run/literals.ts'
import { not, undecided } from '../../run/logic.ts'
import type { Result } from '../../value.ts'
import { flagsOf, noMethod, withOffset } from '../errors.ts'
import { operators } from '../runtime.ts'
import type { ClosureMakers } from './closure.ts'

type Kind = 'constant' | 'failure' | 'call' | 'logic' | 'not' | 'negate' | 'binary' | 'list' | 'map'

/** Literals, operators and calls. Each evaluates all of its children, except `&&` and `||`. */
export const operations: ClosureMakers<Kind> = {
  constant:
    ({ value }) =>
    () =>
      value,
  failure:
    ({ error }) =>
    () =>
      error,
  call(call, make) {
    const { offset } = call
    const args = call.args.map(make)
    return (scope, locals) => {
      const values = args.map((arg) => arg(scope, locals))
      const [receiver = null] = values
      const definition = definitionFor(call, receiver)
      if (definition === undefined) return noMethod(receiver, call.label).at(offset)
      const failed = definition.strict === false ? undefined : values.find((value) => value instanceof CelError)
      return failed ?? withOffset(invoke(definition, scope, values), offset)
    }
  },
  logic({ operator, items, offset }, make) {
    const decisive = operator === '||'
    const sides = items.map(make)
    return (scope, locals) => {
      const results: Result[] = []
      for (const side of sides) {
        const result = side(scope, locals)
        if (result === decisive) return decisive
        results.push(result)
      }
      return withOffset(undecided(operator, results), offset)
    }
  },
  not(plan, make) {
    const operand = make(plan.operand)
    return (scope, locals) => withOffset(not(operand(scope, locals)), plan.offset)
  },
  negate(plan, make) {
    const operand = make(plan.operand)
    return (scope, locals) => withOffset(negate(operand(scope, locals)), plan.offset)
  },
  binary({ operator, left, right, offset }, make) {
    const [a, b, apply] = [make(left), make(right), operators[operator]]
    return (scope, locals) => withOffset(apply(a(scope, locals), b(scope, locals)), offset)
  },
  list(plan, make) {
    const items = plan.items.map(({ value }) => make(value))
    const optional = flagsOf(plan.items)
    return (scope, locals) => {
      const values = items.map((item) => item(scope, locals))
      return withOffset(makeList(values, optional), plan.offset)
    }
  },
  map(plan, make) {
    const parts = plan.entries.flatMap(({ key, value }) => [make(key), make(value)])
    const optional = flagsOf(plan.entries)
    return (scope, locals) => {
      const values = parts.map((part) => part(scope, locals))
      return withOffset(makeMap(values, optional), plan.offset)
    }
  },
}

function definitionFor(call: CallNode, receiver: Result): FunctionDefinition | undefined {
  return call.methods.find(({ on }) => on !== undefined && receiver instanceof on) ?? call.fallback
}

function invoke(definition: FunctionDefinition, scope: object, values: readonly Result[]): Result {
  // The function table is untyped here; each function checks its own arguments.
  const call = definition.call as (...args: unknown[]) => Result
  return definition.scoped ? call(scope, ...values) : call(...values)
}
