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

interface HeadersType {
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

/** Declares a value of a known type; an optional one may be absent. */
export function value(type: Type, options?: { optional?: boolean }): ValueType {
  return { kind: 'value', optional: options?.optional ?? false, type }
}

/** Declares a host object. Its getters return `undefined` for absent fields. */
export function struct(fields: Readonly<Record<string, VariableType>>, options?: { optional?: boolean }): StructType {
  return { kind: 'struct', optional: options?.optional ?? false, fields: new Map(Object.entries(fields)) }
}

/** An argument of a function; functions that are not strict also get errors. */
export type Argument = Value | CelError

type Call = (...args: never[]) => Result

/** Argument and result types of a function; the receiver, if there is one, is the first argument. */
export interface Overload {
  readonly takes: readonly Type[]
  /** The type of any further arguments. */
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
  /** Calls that fit no overload are rejected at load. Without overloads, arguments and result may have any type. */
  readonly overloads?: readonly Overload[]
  /** One line for the reference. */
  readonly summary: string
  /** The host class whose objects have this method; other receivers use the function of the same name without `on`. */
  readonly on?: abstract new (...args: never[]) => MapView | Opaque
  /**
   * A strict function returns an error argument as its result without being called. Functions are strict unless this is
   * false.
   */
  readonly strict?: false
  /** Whether the function may be called once at load when all its arguments are literals. */
  readonly pure?: true
  /** Whether errors for literal arguments are problems at load. Only for pure functions. */
  readonly refusesAtLoad?: true
  /**
   * Called at load with the literal arguments, undefined for the others; returns a call that reuses the work for them,
   * or the error in them.
   */
  readonly prepare?: (known: readonly (Value | undefined)[]) => PreparedCall | CelError | undefined
  /**
   * Used in place of `call` where the call runs at most once per evaluation: work linear in the arguments costs no steps.
   */
  readonly onceCall?: Call
  /** Whether `call` gets the scope as first argument, as `random` does. */
  readonly scoped?: true
  /** The implementation. It gets values of any type and checks them itself. */
  readonly call: Call
}

/** The result of `prepare`; its calls replace `call` and `onceCall` of the function. */
export interface PreparedCall {
  readonly call: Call
  readonly onceCall: Call
}

export interface EnvironmentOptions {
  readonly variables?: Readonly<Record<string, VariableType>>
  /** Functions of the host, in addition to those of the language and the library. */
  readonly functions?: readonly FunctionDefinition[]
  /** The number of steps that one evaluation may take: loop rounds, items, and blocks of 64 characters. */
  readonly budget?: number
  /** Whether unknown names and functions fail at evaluation instead of being rejected at load. */
  readonly lenient?: boolean
  /** The namespace in which names are looked up first: in `a.b`, `x` may be `a.b.x`, `a.x` or `x`. */
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
