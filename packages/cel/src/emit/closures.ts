import { CelError, isMissing } from '../error.ts'
import type { FunctionDefinition } from '../environment.ts'
import type { CallNode, LoopNode, Plan } from '../plan.ts'
import { typeOfPath } from '../plan.ts'
import { negate } from '../run/arithmetic.ts'
import { makeList, makeMap } from '../run/literals.ts'
import { badCondition, not, undecided } from '../run/logic.ts'
import { badPredicate, itemsOf, keysOfMap, valueAt } from '../run/loops.ts'
import { exhausted, spend } from '../run/meter.ts'
import { mapped, notOptional, optionalOf } from '../run/optionals.ts'
import { has, index, optionalIndex, select } from '../run/select.ts'
import { isList } from '../run/type-of.ts'
import { Optional } from '../value.ts'
import type { MapKey, Result } from '../value.ts'
import { flagsOf, missingField, missingPath, noMethod, placed } from './answers.ts'
import { operators } from './operators.ts'
import { readPath, readView } from './path-readers.ts'
import { sinks } from './sinks.ts'

/** Evaluates a node; `locals` are the variables of macros. */
export type Closure = (scope: object, locals: Result[]) => Result
/** As `Closure`, with undefined for what is absent. */
type RawClosure = (scope: object, locals: Result[]) => Result | undefined

/** The back end for folding constants, and for runtimes that forbid code made of strings. */
export function toClosure(plan: Plan): Closure {
  const { offset } = plan
  switch (plan.kind) {
    case 'constant': {
      const { value } = plan
      return () => value
    }
    case 'failure': {
      const { error } = plan
      return () => error
    }
    case 'root': {
      const read = readPath(plan)
      return (scope) => read(scope) ?? null
    }
    case 'field':
    case 'header': {
      const read = readPath(plan)
      const missing = missingPath(plan)
      return (scope) => {
        const value = read(scope)
        return value === undefined ? missing : value
      }
    }
    case 'view': {
      const read = readView(plan.path)
      const missing = plan.path.kind === 'root' ? null : missingPath(plan.path)
      return (scope) => {
        const value = read(scope)
        return value === undefined ? missing : value
      }
    }
    case 'local': {
      const { local } = plan
      return (_scope, locals) => locals[local]!
    }
    case 'select': {
      const operand = toRawClosure(plan.operand)
      const { field } = plan
      const missing = missingField(plan)
      return (scope, locals) => placed(select(operand(scope, locals), field, missing), offset)
    }
    case 'index':
      return strict2(plan.operand, plan.key, index, offset)
    case 'optionalIndex':
      return strict2(plan.operand, plan.key, optionalIndex, offset)
    case 'optionalPath': {
      const read = typeOfPath(plan.path)?.kind === 'struct' ? readView(plan.path) : readPath(plan.path)
      return (scope) => optionalOf(read(scope))
    }
    case 'has': {
      const operand = toRawClosure(plan.operand)
      const { field } = plan
      return (scope, locals) => placed(has(operand(scope, locals), field), offset)
    }
    case 'hasPath': {
      const read = readPath(plan.path)
      return (scope) => read(scope) !== undefined
    }
    case 'call':
      return callClosure(plan, offset)
    case 'logic':
      return logicClosure(plan.operator, plan.items.map(toClosure), offset)
    case 'not': {
      const operand = toClosure(plan.operand)
      return (scope, locals) => placed(not(operand(scope, locals)), offset)
    }
    case 'negate': {
      const operand = toClosure(plan.operand)
      return (scope, locals) => placed(negate(operand(scope, locals)), offset)
    }
    case 'binary':
      return strict2(plan.left, plan.right, operators[plan.operator], offset)
    case 'conditional': {
      const [test, yes, no] = [toClosure(plan.test), toClosure(plan.yes), toClosure(plan.no)]
      return (scope, locals) => {
        const result = test(scope, locals)
        if (result === true) return yes(scope, locals)
        return result === false ? no(scope, locals) : placed(badCondition(result), offset)
      }
    }
    case 'list': {
      const items = plan.items.map(({ value }) => toClosure(value))
      const optional = flagsOf(plan.items)
      return (scope, locals) =>
        placed(
          makeList(
            items.map((item) => item(scope, locals)),
            optional,
          ),
          offset,
        )
    }
    case 'map': {
      const parts = plan.entries.flatMap(({ key, value }) => [toClosure(key), toClosure(value)])
      const optional = flagsOf(plan.entries)
      return (scope, locals) =>
        placed(
          makeMap(
            parts.map((part) => part(scope, locals)),
            optional,
          ),
          offset,
        )
    }
    case 'loop':
      return loopClosure(plan, offset)
    case 'bind': {
      const { local } = plan
      const [value, body] = [toClosure(plan.value), toClosure(plan.body)]
      return (scope, locals) => {
        locals[local] = value(scope, locals)
        return body(scope, locals)
      }
    }
    case 'default': {
      const [value, fallback] = [toClosure(plan.value), toClosure(plan.fallback)]
      return (scope, locals) => {
        const result = value(scope, locals)
        return result === null || isMissing(result) ? fallback(scope, locals) : result
      }
    }
    case 'coalesce': {
      const items = plan.items.map(toClosure)
      return (scope, locals) => {
        for (const item of items) {
          const result = item(scope, locals)
          if (result !== null && !(result instanceof CelError)) return result
        }
        return null
      }
    }
    case 'orElse': {
      const { unwrap } = plan
      const [operand, alternative] = [toClosure(plan.operand), toClosure(plan.alternative)]
      return (scope, locals) => {
        const result = operand(scope, locals)
        if (!(result instanceof Optional)) return placed(notOptional(result), offset)
        if (result.value === undefined) return alternative(scope, locals)
        return unwrap ? result.value : result
      }
    }
    case 'optionalMap': {
      const { local, flat } = plan
      const [operand, body] = [toClosure(plan.operand), toClosure(plan.body)]
      return (scope, locals) => {
        const result = operand(scope, locals)
        if (!(result instanceof Optional)) return placed(notOptional(result), offset)
        if (result.value === undefined) return result
        locals[local] = result.value
        return placed(mapped(body(scope, locals), flat), offset)
      }
    }
  }
}

/** Roots stay undefined, because an absent one has no fields and yet is null. */
function toRawClosure(plan: Plan): RawClosure {
  return plan.kind === 'root' ? readPath(plan) : toClosure(plan)
}

function strict2(left: Plan, right: Plan, apply: (a: Result, b: Result) => Result, offset: number): Closure {
  const [a, b] = [toClosure(left), toClosure(right)]
  return (scope, locals) => placed(apply(a(scope, locals), b(scope, locals)), offset)
}

function logicClosure(operator: '&&' | '||', items: readonly Closure[], offset: number): Closure {
  const decisive = operator === '||'
  return (scope, locals) => {
    const results: Result[] = []
    for (const item of items) {
      const result = item(scope, locals)
      if (result === decisive) return decisive
      results.push(result)
    }
    return placed(undecided(operator, results), offset)
  }
}

function callClosure(call: CallNode, offset: number): Closure {
  const args = call.args.map(toClosure)
  return (scope, locals) => {
    const values = args.map((arg) => arg(scope, locals))
    const definition = definitionFor(call, values[0])
    if (definition === undefined) return noMethod(values[0]!, call.label).at(offset)
    const failed = definition.strict === false ? undefined : values.find((value) => value instanceof CelError)
    return failed ?? placed(invoke(definition, scope, values), offset)
  }
}

function definitionFor(call: CallNode, receiver: Result | undefined): FunctionDefinition | undefined {
  return call.methods.find(({ on }) => on !== undefined && receiver instanceof on) ?? call.fallback
}

function invoke(definition: FunctionDefinition, scope: object, values: readonly Result[]): Result {
  // The table is untyped here; each function checks what it is given.
  const call = definition.call as (...args: unknown[]) => Result
  return definition.scoped ? call(scope, ...values) : call(...values)
}

function loopClosure(loop: LoopNode, offset: number): Closure {
  const [range, body] = [toClosure(loop.range), toClosure(loop.body)]
  const filter = loop.filter && toClosure(loop.filter)
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
      if (done !== undefined) return placed(done, offset)
    }
    return placed(sink.finish(), offset)
  }
}
