import type { CelError } from './error.ts'
import type { Type } from './types.ts'
import type { MapView, Opaque, Result, Value } from './value.ts'

/**
 * How a variable, or a field of a struct, is declared.
 * - `dyn`: anything JSON-like; may be absent, and so may everything beneath it
 * - `present`: anything JSON-like that is always there
 * - `value(type)`: a value of a known type
 * - `headers`: a `HeadersView`; each header may be absent
 * - `struct(...)`: a host object with known fields, read by its (prototype) getters; others are refused at load
 */
export type VariableType = ValueType | HeadersType | StructType

export interface ValueType {
  readonly kind: 'value'
  readonly optional: boolean
  readonly type: Type
}

export interface HeadersType {
  readonly kind: 'headers'
  readonly optional: boolean
}

export interface StructType {
  readonly kind: 'struct'
  readonly optional: boolean
  readonly fields: ReadonlyMap<string, VariableType>
}

export const dyn = value('dyn', { optional: true })
export const present = value('dyn')
export const headers: HeadersType = { kind: 'headers', optional: false }

/** An optional one may be absent. */
export function value(type: Type, options?: { optional?: boolean }): ValueType {
  return { kind: 'value', optional: options?.optional ?? false, type }
}

/** The host's getters give `undefined` for what is missing. */
export function struct(fields: Readonly<Record<string, VariableType>>, options?: { optional?: boolean }): StructType {
  return { kind: 'struct', optional: options?.optional ?? false, fields: new Map(Object.entries(fields)) }
}

/** An argument of a function that is not strict may be an error. */
export type Argument = Value | CelError

type Call = (...args: never[]) => Result

/** Types that a function takes and gives; the receiver, if there is one, is the first. */
export interface Overload {
  readonly takes: readonly Type[]
  /** Of any number of arguments after those. */
  readonly rest?: Type
  readonly gives: Type
}

export function overload(takes: readonly Type[], gives: Type, rest?: Type): Overload {
  return rest === undefined ? { takes, gives } : { takes, gives, rest }
}

export interface FunctionDefinition {
  /** `startsWith`, `base64.encode`. */
  readonly name: string
  /** `global`: f(a, b). `receiver`: a.f(b); the receiver comes first in `call` and is not counted in the arguments. */
  readonly style: 'global' | 'receiver'
  readonly minArgs: number
  readonly maxArgs: number
  /** What is not here is refused at load. Without any, the arguments and the result may be anything. */
  readonly overloads?: readonly Overload[]
  /** One line for the reference. */
  readonly summary: string
  /** A method of these host objects only; other receivers go to the function of the same name without `on`. */
  readonly on?: abstract new (...args: never[]) => MapView | Opaque
  /** Strict unless false: an argument that is an error is the result, and the function is not called. */
  readonly strict?: false
  /** May be called once at load when all arguments are literals. */
  readonly pure?: true
  /** Literals that it refuses are problems at load. Only for pure functions. */
  readonly refusesAtLoad?: true
  /** Called at load with the arguments that are literals: a call that has done the work for them, or what is wrong. */
  readonly prepare?: (known: readonly (Value | undefined)[]) => PreparedCall | CelError | undefined
  /** The same call where it runs at most once in an evaluation: work that is linear in its arguments costs no steps. */
  readonly onceCall?: Call
  /** `call` gets the scope first (for `random` and the like). */
  readonly scoped?: true
  /** Gets values of any type, and checks them itself. */
  readonly call: Call
}

/** The result of `prepare`; its calls replace `call` and `onceCall` of the function. */
export interface PreparedCall {
  readonly call: Call
  readonly onceCall: Call
}

export interface EnvironmentOptions {
  readonly variables?: Readonly<Record<string, VariableType>>
  /** Beside those of the language and of the library, which are always there. */
  readonly functions?: readonly FunctionDefinition[]
  /** Steps that one evaluation may take: rounds of loops, items and (in blocks of 64) characters visited. */
  readonly budget?: number
  /** Unknown names and functions fail when they are evaluated, instead of being refused. */
  readonly lenient?: boolean
  /** Names are looked up in this namespace first: in `a.b`, `x` may be `a.b.x`, `a.x` or `x`. */
  readonly container?: string
}

export interface Environment {
  readonly variables: ReadonlyMap<string, VariableType>
  readonly functions: ReadonlyMap<string, readonly FunctionDefinition[]>
  readonly budget: number
  readonly lenient: boolean
  readonly container: string
}

export function functionKey(style: 'global' | 'receiver', name: string): string {
  return style === 'receiver' ? `.${name}` : name
}
