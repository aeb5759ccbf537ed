import { condition } from './fields/expression.ts'
import { list, object, type Schema } from './kit.ts'

/** Forms of a policy of which the first whose condition is true is taken. */
export function conditionalForms<Config>(policy: Schema<Config>) {
  return list(
    object({
      condition: condition('request')
        .optional()
        .describe('When this form is taken; the last one may lack it, and is taken when no other is.'),
      policy: policy.describe('The policy in this case.'),
    }).describe('One case.'),
    { min: 1, max: 16 },
  )
    .optional()
    .describe(
      'Forms of the policy by condition: the first whose condition is true is taken, none when no condition is.',
    )
}
