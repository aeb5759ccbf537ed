import { CelError } from '../error.ts'
import type { Plan } from '../plan.ts'
import { meter } from '../run/meter.ts'
import { Optional } from '../value.ts'
import { writeNode } from './expressions.ts'
import type { Evaluate } from './interpret.ts'
import { runtime } from './runtime.ts'
import { Writer } from './writer.ts'

/** Compiles a plan to JavaScript. Throws where the runtime forbids `new Function`. */
export function generate(plan: Plan, budget: number): Evaluate {
  const { source, constants } = writeProgram(plan, budget)
  // oxlint-disable-next-line typescript/no-implied-eval -- made of constants and JSON strings only, see Writer
  const make = new Function('K', 'F', 'E', 'M', 'T', 'O', 'P', source) as Make
  return make(constants, runtime, CelError, meter, Optional, Object, Object.prototype)
}

type Make = (
  K: readonly unknown[],
  F: typeof runtime,
  E: typeof CelError,
  M: typeof meter,
  T: typeof Optional,
  O: typeof Object,
  P: object,
) => Evaluate

export function writeProgram(plan: Plan, budget: number): { source: string; constants: readonly unknown[] } {
  const writer = new Writer(writeNode)
  const result = writer.value(plan)
  const lines = [
    '"use strict";',
    ...writer.constants.map((_, index) => `const k${index} = K[${index}];`),
    ...writer.functions,
    'return function evaluate(c) {',
    writer.declarations(),
    // A host getter may start another evaluation, so the budget is saved and restored.
    `const before = M.left; M.left = ${Math.trunc(budget)};`,
    `try { const result = ${result}; M.left = before; return result; }`,
    'catch (error) { M.left = before; return F.errorOfThrown(error); }',
    '};',
  ]
  return { source: lines.join('\n'), constants: writer.constants }
}
