import { isMissing } from '../error.ts'
import type { BinaryOperator } from '../parse/ast.ts'
import { add, divide, modulo, multiply, negate, subtract, tooLarge } from '../run/arithmetic.ts'
import { equals, notEquals } from '../run/equality.ts'
import { makeList, makeMap } from '../run/literals.ts'
import { badCondition, isIn, not, undecided } from '../run/logic.ts'
import { badPredicate, itemsOf, keysOfMap, valueAt } from '../run/loops.ts'
import { exhausted } from '../run/meter.ts'
import { mapped, notOptional, optionalOf } from '../run/optionals.ts'
import { greater, greaterOrEqual, less, lessOrEqual } from '../run/order.ts'
import { has, index, optionalIndex, select } from '../run/select.ts'
import { readHost, viewOf } from '../run/struct-view.ts'
import type { Result } from '../value.ts'
import { noMethod, withOffset, errorOfThrown } from './errors.ts'

/** Functions that generated code calls, under the names it uses. Most are off the fast path. */
export const runtime = {
  add,
  badCondition,
  badPredicate,
  divide,
  equals,
  exhausted,
  greater,
  greaterOrEqual,
  has,
  index,
  isIn,
  isMissing,
  itemsOf,
  keysOfMap,
  less,
  lessOrEqual,
  makeList,
  makeMap,
  mapped,
  modulo,
  multiply,
  negate,
  noMethod,
  not,
  notEquals,
  notOptional,
  optionalIndex,
  optionalOf,
  withOffset,
  readHost,
  select,
  subtract,
  errorOfThrown,
  tooLarge,
  undecided,
  valueAt,
  viewOf,
}

export const operators: Readonly<Record<BinaryOperator, (left: Result, right: Result) => Result>> = {
  '==': equals,
  '!=': notEquals,
  '<': less,
  '<=': lessOrEqual,
  '>': greater,
  '>=': greaterOrEqual,
  in: isIn,
  '+': add,
  '-': subtract,
  '*': multiply,
  '/': divide,
  '%': modulo,
}
