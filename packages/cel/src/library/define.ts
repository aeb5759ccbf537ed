import type { FunctionDefinition } from '../declarations.ts'
import { exhausted, spend } from '../run/meter.ts'
import type { Result } from '../value.ts'

type Call = (...args: never[]) => Result
type Traits = Partial<Pick<FunctionDefinition, 'on' | 'strict' | 'pure' | 'refusesAtLoad' | 'scoped' | 'prepare'>>
/** A fixed number of arguments, or from so many to so many. */
type Arity = number | readonly [number, number]

export const ANY_NUMBER = 255

/** f(a, b) */
export function globalFunction(
  name: string,
  arity: Arity,
  summary: string,
  call: Call,
  traits: Traits = { pure: true },
): FunctionDefinition {
  return { style: 'global', name, ...bounds(arity), summary, ...traits, call: metered(call, traits) }
}

/** a.f(b); the receiver is not counted. */
export function method(
  name: string,
  arity: Arity,
  summary: string,
  call: Call,
  traits: Traits = { pure: true },
): FunctionDefinition {
  return { style: 'receiver', name, ...bounds(arity), summary, ...traits, call: metered(call, traits) }
}

function bounds(arity: Arity): { minArgs: number; maxArgs: number } {
  return typeof arity === 'number' ? { minArgs: arity, maxArgs: arity } : { minArgs: arity[0], maxArgs: arity[1] }
}

/** Functions pay for what they are given and what they give; methods of host objects do not look at all of it. */
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
