import type { FieldExpression, FieldValue } from './schema.ts'
import type { Json, JsonObject } from '@portico/chat'
import { type MemberEdits, NO_EDITS } from '@portico/http/json'

export interface FieldRules {
  defaults?: readonly FieldValue[] | undefined
  overrides?: readonly FieldValue[] | undefined
  transformations?: readonly FieldExpression[] | undefined
}

/**
 * The changes that the policy makes to a body. Transformations win over overrides, overrides win over the client's
 * value, and defaults fill members that are still absent. `evaluate` sees the body before the changes; undefined from
 * `evaluate` means that the expression failed, and removes the member.
 */
export function fieldEdits(
  body: JsonObject,
  { defaults = [], overrides = [], transformations = [] }: FieldRules,
  evaluate: (expression: string) => Json | undefined,
): MemberEdits {
  if (defaults.length + overrides.length + transformations.length === 0) return NO_EDITS
  const edits = new Map<string, Json | undefined>()
  for (const { field, value } of overrides) edits.set(field, value)
  for (const { field, expression } of transformations) edits.set(field, evaluate(expression))
  for (const { field, value } of defaults) {
    const current = edits.has(field) ? edits.get(field) : ownMember(body, field)
    // SDKs send null for members that are not set.
    if (current === undefined || current === null) edits.set(field, value)
  }
  return edits
}

function ownMember(body: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined
}
