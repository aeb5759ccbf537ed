import type { FunctionDefinition, VariableType } from './declarations.ts'
import type { CelError } from './error.ts'
import type { BinaryOperator } from './parse/ast.ts'
import type { Value } from './value.ts'

/** An expression with resolved names, functions and macros. Both back ends run it. */
export type Plan = { offset: number } & PlanNode

type PlanNode =
  | { kind: 'constant'; value: Value }
  /** A node that always fails, such as an unknown name in a lenient environment. */
  | { kind: 'failure'; error: CelError }
  | PathNode
  /** A struct used as a whole, as a map. */
  | { kind: 'view'; path: Path }
  | { kind: 'local'; local: number }
  | { kind: 'select'; operand: Plan; field: string }
  | { kind: 'index'; operand: Plan; key: Plan }
  | { kind: 'optionalIndex'; operand: Plan; key: Plan }
  /** `request.?body`: an optional of a declared path. */
  | { kind: 'optionalPath'; path: Path }
  | { kind: 'has'; operand: Plan; field: string }
  /** `has` of a declared path; absent structs in the middle are no errors. */
  | { kind: 'hasPath'; path: Path }
  | CallNode
  | { kind: 'logic'; operator: '&&' | '||'; items: Plan[] }
  | { kind: 'not'; operand: Plan }
  | { kind: 'negate'; operand: Plan }
  | { kind: 'binary'; operator: BinaryOperator; left: Plan; right: Plan }
  | { kind: 'conditional'; test: Plan; yes: Plan; no: Plan }
  | { kind: 'list'; items: { value: Plan; optional: boolean }[] }
  | { kind: 'map'; entries: { key: Plan; value: Plan; optional: boolean }[] }
  | LoopNode
  | { kind: 'bind'; local: number; value: Plan; body: Plan }
  /** `default(value, fallback)`. */
  | { kind: 'default'; value: Plan; fallback: Plan }
  | { kind: 'coalesce'; items: Plan[] }
  /** `optional.or(optional)`, `optional.orValue(value)`. */
  | { kind: 'orElse'; operand: Plan; alternative: Plan; unwrap: boolean }
  /** `optional.optMap(x, value)`, `optional.optFlatMap(x, optional)`. */
  | { kind: 'optionalMap'; operand: Plan; local: number; body: Plan; flat: boolean }

/** A declared variable, a field of a struct, or a header. */
export type Path = { offset: number } & PathNode

type PathNode =
  | { kind: 'root'; name: string; type: VariableType }
  | { kind: 'field'; parent: Path; name: string; type: VariableType }
  | { kind: 'header'; parent: Path; name: string }

export interface CallNode {
  kind: 'call'
  /** Methods of host classes, which are tried before `fallback`. */
  methods: readonly FunctionDefinition[]
  fallback: FunctionDefinition | undefined
  /** The arguments; the receiver, if there is one, is the first. */
  args: Plan[]
  /** The call as it is written, for messages: `size()`, or `.startsWith()` for a method. */
  label: string
}

export type LoopMacro = 'all' | 'exists' | 'existsOne' | 'toList' | 'toMap' | 'filterKeys'

export interface LoopNode {
  kind: 'loop'
  macro: LoopMacro
  range: Plan
  /** One macro variable for items or keys; two for index and item, or for key and value. */
  locals: readonly [number] | readonly [number, number]
  /** Whether a single macro variable takes the values of a map instead of its keys. */
  values: boolean
  filter: Plan | null
  body: Plan
}

export function isPath(plan: Plan): plan is Path {
  return plan.kind === 'root' || plan.kind === 'field' || plan.kind === 'header'
}

export function pathNames(path: Path): string[] {
  return path.kind === 'root' ? [path.name] : [...pathNames(path.parent), path.name]
}

export function typeOfPath(path: Path): VariableType | undefined {
  return path.kind === 'header' ? undefined : path.type
}
