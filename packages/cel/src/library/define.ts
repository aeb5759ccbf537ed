import type { FunctionDefinition, Overload } from '../declarations.ts'
import { exhausted, spend } from '../run/meter.ts'
import type { Result } from '../value.ts'

type Call = (...args: never[]) => Result
type Traits = Partial<
  Pick<FunctionDefinition, 'on' | 'strict' | 'pure' | 'refusesAtLoad' | 'scoped' | 'prepare' | 'onceCall'>
>
type Overloads = Overload | readonly Overload[]

export const ANY_NUMBER = 255

/** Defines `f(a, b)`. */
export function globalFunction(
  name: string,
  overloads: Overloads,
  summary: string,
  call: Call,
  traits: Traits = { pure: true },
): FunctionDefinition {
  return { style: 'global', name, ...signature(overloads, 0), summary, ...traits, call: metered(call, traits) }
}

/** Defines `a.f(b)`; the receiver is not counted as an argument. */
export function method(
  name: string,
  overloads: Overloads,
  summary: string,
  call: Call,
  traits: Traits = { pure: true },
): FunctionDefinition {
  return { style: 'receiver', name, ...signature(overloads, 1), summary, ...traits, call: metered(call, traits) }
}

type Signature = Required<Pick<FunctionDefinition, 'overloads' | 'minArgs' | 'maxArgs'>>

function signature(written: Overloads, receivers: number): Signature {
  const overloads = 'takes' in written ? [written] : written
  const counts = overloads.map(({ takes }) => takes.length - receivers)
  const takesMore = overloads.some(({ rest }) => rest !== undefined)
  return { overloads, minArgs: Math.min(...counts), maxArgs: takesMore ? ANY_NUMBER : Math.max(...counts) }
}

/**
 * Charges the budget for the arguments and the result. Methods of host objects are not charged, because they do not read
 * all of the object.
 */
function metered(call: Call, traits: Traits): Call {
  if (traits.scoped || traits.on || traits.strict === false) return call
  return (...args: never[]): Result => {
    let cost = 1
    for (const arg of args) cost += costOf(arg)
    if (!spend(cost)) return exhausted
    const result = call(...args)
    return spend(costOf(result)) ? result : exhausted
  }
}

function costOf(value: Result): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length >> 6
  return Array.isArray(value) ? value.length >> 3 : 0
}
