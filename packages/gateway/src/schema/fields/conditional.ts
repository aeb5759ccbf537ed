import { condition } from './expression.ts'
import { fieldOf, list, object, type OptionalShape, type Schema } from '../kit.ts'
import { conditionalOr, type OtherRule } from '../rules.ts'

/** A policy with these keys, or with a list `conditional` of such forms, each with its condition. */
export function conditionalPolicy<Shape extends Record<string, Schema>>(
  shape: Shape,
  rules: readonly OtherRule[] = [],
) {
  const names = Object.keys(shape)
  for (const [name, schema] of Object.entries(shape)) {
    // The default would be set beside `conditional` too, as if the user had written it.
    if (fieldOf(schema).default !== undefined) throw new Error(`\`${name}\`: let the step have this default`)
  }
  const required = names.filter((name) => shape[name] !== undefined && fieldOf(shape[name]).required)
  // All keys are optional here, because `conditional` excludes them; the rule below requires them otherwise.
  const loose = Object.fromEntries(names.map((name) => [name, shape[name]?.optional()])) as OptionalShape<Shape>
  return object({ ...loose, conditional: conditionalForms(object(shape, rules)) }, [
    conditionalOr(names, required),
    // The forms in the list satisfy the rule instead.
    ...rules.map((rule) => (rule.rule === 'atLeastOneOf' ? { ...rule, keys: [...rule.keys, 'conditional'] } : rule)),
  ])
}

/** The plain form of a conditional policy. */
export type PlainForm<Config extends { conditional?: readonly { policy: unknown }[] | undefined }> = NonNullable<
  Config['conditional']
>[number]['policy']

function conditionalForms<Config>(policy: Schema<Config>) {
  return list(
    object({
      condition: condition('request')
        .optional()
        .describe('Condition for this case. Only the last case may omit it; that case is the default.'),
      policy: policy.describe('The policy in this case.'),
    }).describe('A case.'),
    { min: 1, max: 16 },
  )
    .optional()
    .describe(
      'The policy by condition: the first case whose condition is true applies. The policy does nothing if no condition is true.',
    )
}
