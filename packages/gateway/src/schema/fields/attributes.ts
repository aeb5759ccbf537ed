import type { ExpressionPhase } from '../../expressions/variables.ts'
import { expression } from './expression.ts'
import { list, object } from '../kit.ts'
import type { Schema } from '../kit.ts'

/** Named values that expressions compute, each name once. */
export function attributes(phase: ExpressionPhase, name: Schema<string>, max: number) {
  const item = object({
    name: name.describe('The name.'),
    expression: expression(phase).describe('Expression for the value.'),
  }).describe('A name and the expression for its value.')
  return list(item, { min: 1, max, uniqueBy: 'name' })
}
