import { fieldOf } from '../kit.ts'
import type { Field, Json, JsonObject, ObjectNode, Schema } from '../kit.ts'
import type { Rule } from '../rules.ts'
import { shareRepeats } from './share-repeats.ts'

/** The definition as JSON Schema (draft 2020-12), for editors and other tools. */
export function toJsonSchema(schema: Schema, head: JsonObject = {}): JsonObject {
  return shareRepeats({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...head, ...printSchema(schema) })
}

/** The definition as a part of another JSON Schema. */
export function printSchema(schema: Schema): JsonObject {
  const { mayBeList, ...field } = fieldOf(schema)
  if (!mayBeList) return printField(field)
  const { description, ...one } = printField(field)
  return {
    ...(description !== undefined && { description }),
    anyOf: [one, { type: 'array', items: one, minItems: 1, maxItems: 1 }],
  }
}

function printField({ node, description, default: fallback }: Omit<Field, 'mayBeList'>): JsonObject {
  const notes: JsonObject = description === '' ? {} : { description }
  if (fallback !== undefined) notes['default'] = fallback
  switch (node.kind) {
    case 'scalar':
      return { ...notes, ...node.json }
    case 'list':
      return { ...notes, type: 'array', items: printSchema(node.item), minItems: node.min, maxItems: node.max }
    case 'map':
      return {
        ...notes,
        type: 'object',
        additionalProperties: printSchema(node.value),
        minProperties: node.min,
        maxProperties: node.max,
      }
    case 'object':
      return { ...notes, ...printObject(node) }
  }
}

function printObject(node: ObjectNode): JsonObject {
  const fields = Object.entries(node.fields)
  const required = fields.filter(([, schema]) => fieldOf(schema).required).map(([name]) => name)
  const printed: JsonObject = {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(fields.map(([name, schema]) => [name, printSchema(schema)])),
  }
  if (required.length > 0) printed['required'] = required
  if (node.rules.length > 0) printed['allOf'] = node.rules.map(printRule)
  return printed
}

function printRule(rule: Rule): JsonObject {
  switch (rule.rule) {
    case 'exactlyOneOf':
      return { oneOf: rule.keys.map(has) }
    case 'atMostOneOf':
      return { oneOf: [{ not: { anyOf: rule.keys.map(has) } }, ...rule.keys.map(has)] }
    case 'atLeastOneOf':
      return { anyOf: rule.keys.map(has) }
    case 'onlyWith':
      return { dependentRequired: { [rule.key]: [rule.needs] } }
    case 'requiredWhen':
      return { if: hasWord(rule.other, rule.word), then: has(rule.key) }
    case 'requiredUnless':
      return { if: { required: [rule.other], not: hasWord(rule.other, rule.word) }, then: has(rule.key) }
    case 'other':
    case 'uniqueAcross':
      // Beyond JSON Schema.
      return {}
    case 'conditional':
      // That only the last item may lack a condition is beyond JSON Schema.
      return {
        not: { allOf: [has(rule.key), { anyOf: rule.plain.map(has) }] },
        ...(rule.required.length > 0 && { anyOf: [has(rule.key), { required: [...rule.required] }] }),
      }
  }
}

function hasWord(key: string, word: string): JsonObject {
  return { required: [key], properties: { [key]: { enum: [...new Set([word, word.toLowerCase()])] } } }
}

function has(key: string): { [key: string]: Json } {
  return { required: [key] }
}
