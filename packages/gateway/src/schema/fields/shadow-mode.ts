import { nodeOf, Schema } from '../kit.ts'
import { enumeration } from './values.ts'

/** The `mode` field of a policy that can run as a shadow policy. */
export const shadowMode = enumeration(['Enforce', 'Shadow'])
  .optional()
  .describe('`Shadow` only reports what the policy would do. `Enforce` when unset.')

/**
 * Adds `mode` to the fields of a policy that can run as a shadow policy, unless the policy has a `mode` field of its
 * own.
 */
export function withShadowMode<S extends Schema>(schema: S): S {
  const node = nodeOf(schema)
  if (node.kind !== 'object' || 'mode' in node.fields) return schema
  const field = { ...schema.field, node: { ...node, fields: { ...node.fields, mode: shadowMode } } }
  return new Schema(field, schema.absences) as unknown as S
}
