import type { ExpressionPhase } from '../../expressions/variables.ts'
import { expression } from './expression.ts'
import { list, object } from '../kit.ts'
import type { Schema } from '../kit.ts'

/** Named values that expressions compute, each name once. */
export function attributes(phase: ExpressionPhase, name: Schema<string>, max: number) {
  const item = object({
    name: name.describe('Its name.'),
    expression: expression(phase).describe('Its value.'),
  }).describe('A name and what computes its value.')
  return list(item, { min: 1, max, uniqueBy: 'name' })
}
