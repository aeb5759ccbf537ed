import type { BinaryOperator } from '../parse/ast.ts'
import { add, divide, modulo, multiply, subtract } from '../run/arithmetic.ts'
import { equals, notEquals } from '../run/equality.ts'
import { isIn } from '../run/logic.ts'
import { greater, greaterOrEqual, less, lessOrEqual } from '../run/order.ts'
import type { Result } from '../value.ts'

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
