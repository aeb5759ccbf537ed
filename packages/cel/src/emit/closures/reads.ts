import type { Path, Plan } from '../../plan.ts'
import { typeOfPath } from '../../plan.ts'
import { optionalOf } from '../../run/optionals.ts'
import { has, index, optionalIndex, select } from '../../run/select.ts'
import { readHost, viewOf } from '../../run/struct-view.ts'
import { HeadersView } from '../../value.ts'
import type { Result, Value } from '../../value.ts'
import { missingField, missingPath, withOffset } from '../errors.ts'
import type { Closure, ClosureMakers, MakeClosure } from './closure.ts'

type Kind = 'root' | 'field' | 'header' | 'view' | 'optionalPath' | 'hasPath' | 'local'
type KeyKind = 'select' | 'index' | 'optionalIndex' | 'has'

/** Reads of declared variables, of macro variables, and of their keys. */
export const reads: ClosureMakers<Kind | KeyKind> = {
  root(plan) {
    const read = readPath(plan)
    return (scope) => read(scope) ?? null
  },
  field: (plan) => orMissing(readPath(plan), missingPath(plan)),
  header: (plan) => orMissing(readPath(plan), missingPath(plan)),
  view: ({ path }) => orMissing(readView(path), path.kind === 'root' ? null : missingPath(path)),
  optionalPath({ path }) {
    const read = typeOfPath(path)?.kind === 'struct' ? readView(path) : readPath(path)
    return (scope) => optionalOf(read(scope))
  },
  hasPath({ path }) {
    const read = readPath(path)
    return (scope) => read(scope) !== undefined
  },
  local:
    ({ local }) =>
    (_scope, locals) =>
      locals[local] ?? null,
  select(plan, make) {
    const { field, offset } = plan
    const operand = rawClosure(plan.operand, make)
    const missing = missingField(plan)
    return (scope, locals) => withOffset(select(operand(scope, locals), field, missing), offset)
  },
  has(plan, make) {
    const { field, offset } = plan
    const operand = rawClosure(plan.operand, make)
    return (scope, locals) => withOffset(has(operand(scope, locals), field), offset)
  },
  index({ operand, key, offset }, make) {
    const [of, at] = [make(operand), make(key)]
    return (scope, locals) => withOffset(index(of(scope, locals), at(scope, locals)), offset)
  },
  optionalIndex({ operand, key, offset }, make) {
    const [of, at] = [make(operand), make(key)]
    return (scope, locals) => withOffset(optionalIndex(of(scope, locals), at(scope, locals)), offset)
  },
}

/** Reads a path from the scope; undefined when the value is absent. */
type PathReader = (scope: object) => Value | undefined

function readPath(path: Path): PathReader {
  const { name } = path
  if (path.kind === 'root') return (scope) => readHost(scope, name)
  const parent = readPath(path.parent)
  if (path.kind === 'field') return (scope) => readHost(parent(scope), name)
  return (scope) => {
    const view = parent(scope)
    return view instanceof HeadersView ? view.get(name) : undefined
  }
}

/** Like `readPath`, but returns a struct as a map. */
function readView(path: Path): PathReader {
  const read = readPath(path)
  const type = typeOfPath(path)
  return type?.kind === 'struct' ? (scope) => viewOf(read(scope), type) : read
}

function orMissing(read: PathReader, missing: Result): Closure {
  return (scope) => {
    const value = read(scope)
    return value === undefined ? missing : value
  }
}

/** An absent root stays undefined here, because it has no fields, although its own value is null. */
function rawClosure(plan: Plan, make: MakeClosure): (scope: object, locals: Result[]) => Result | undefined {
  return plan.kind === 'root' ? readPath(plan) : make(plan)
}
