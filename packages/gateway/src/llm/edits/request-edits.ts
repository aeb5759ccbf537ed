import type { Json, JsonObject } from '../middle.ts'
import { fieldEdits, type FieldRules } from './field-edits.ts'
import { applyEdits, joinEdits, type MemberEdits, NO_EDITS } from '../../wire/member-edits.ts'

export interface RequestRules {
  /** The model that the provider's config demands. */
  model: string | null
  fields: FieldRules
  aliasOf: (model: string) => string
}

export interface EditedRequest {
  edits: MemberEdits
  /** With the edits. */
  body: JsonObject
  /** What the provider is asked for; empty when nobody named one. */
  model: string
}

/** The provider's model, then the edits of the policy, then the alias: all that is done to a body in the client's format. */
export function editRequest(
  original: JsonObject,
  pathModel: string | null,
  rules: RequestRules,
  evaluate: (expression: string) => Json | undefined,
): EditedRequest {
  const model = rules.model ?? (namesModel(original) ? null : pathModel)
  const chosen: MemberEdits = model === null ? NO_EDITS : new Map([['model', model]])
  const edited = fieldEdits(applyEdits(original, chosen), rules.fields, evaluate)
  const edits = joinEdits(chosen, edited)
  const body = applyEdits(original, edits)
  if (!namesModel(body)) return { edits, body, model: '' }
  const alias = rules.aliasOf(body.model)
  if (alias === original.model)
    return { edits: withoutEdit(edits, 'model'), body: { ...body, model: alias }, model: alias }
  if (alias === body.model) return { edits, body, model: alias }
  const named: MemberEdits = new Map([['model', alias]])
  return { edits: joinEdits(edits, named), body: applyEdits(body, named), model: alias }
}

function namesModel(body: JsonObject): body is JsonObject & { model: string } {
  return typeof body.model === 'string' && body.model !== ''
}

/** What comes out as it went in needs no edit, and leaves the bytes alone. */
function withoutEdit(edits: MemberEdits, name: string): MemberEdits {
  if (!edits.has(name)) return edits
  return new Map([...edits].filter(([other]) => other !== name))
}
