import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { contextAt } from './yaml-context.ts'
import { type JsonSchema, keysAt, kindOf, valuesAt } from './schema-walk.ts'

/** Completions at a location of the config, from its schema. */
export function completeConfig(schema: JsonSchema): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const place = contextAt(context.state.sliceDoc(0, context.pos))
    if (place === null) return null
    const { path, isKey, siblings, from } = place
    if (!context.explicit && from === context.pos && isKey) return null
    const options = isKey ? keyOptions(schema, path, siblings) : valueOptions(schema, path)
    return options.length === 0 ? null : { from, options, validFor: /^[\w.-]*$/ }
  }
}

function keyOptions(schema: JsonSchema, path: Parameters<typeof keysAt>[1], siblings: readonly string[]): Completion[] {
  return keysAt(schema, path)
    .filter(({ name }) => !siblings.includes(name))
    .map(({ name, schema: own, isRequired }) => ({
      label: name,
      apply: `${name}: `,
      type: 'property',
      detail: [kindOf(schema, own), isRequired ? 'required' : ''].filter((word) => word !== '').join(', '),
      info: own.description ?? '',
      boost: isRequired ? 1 : 0,
    }))
}

function valueOptions(schema: JsonSchema, path: Parameters<typeof valuesAt>[1]): Completion[] {
  return valuesAt(schema, path).map((label) => ({ label, type: 'constant' }))
}
