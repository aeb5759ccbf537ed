import { fieldOf } from '../kit.ts'
import type { JsonObject, ObjectNode, Schema } from '../kit.ts'
import { inResource } from '../resource-form.ts'
import type { Rule } from '../rules.ts'

/**
 * Prints the definition as a structural OpenAPI schema for a CustomResourceDefinition. Rules between keys become CEL
 * rules, because a structural schema has no unions; file-only definitions are left out.
 */
export function toCrdSchema(schema: Schema): JsonObject {
  return print(inResource(schema), null)
}

/** Prints a definition; `name` is its key. */
function print(schema: Schema, name: string | null): JsonObject {
  const { node, description, default: fallback } = fieldOf(schema)
  const notes: JsonObject = description === '' ? {} : { description }
  if (fallback !== undefined) notes['default'] = fallback
  switch (node.kind) {
    case 'scalar':
      return { ...notes, ...withName(node.type === 'duration' ? withPlainWords(node.crd) : node.crd, name) }
    case 'list':
      return {
        ...notes,
        type: 'array',
        items: print(node.item, null),
        minItems: node.min,
        maxItems: node.max,
        ...(node.uniqueBy !== null && {
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': [node.uniqueBy],
        }),
      }
    case 'map':
      return {
        ...notes,
        type: 'object',
        additionalProperties: print(node.value, null),
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
  const printed: JsonObject = { type: 'object' }
  // The API server removes empty properties, so a later `apply` would report a difference.
  if (fields.length > 0) {
    printed['properties'] = Object.fromEntries(fields.map(([name, schema]) => [name, print(schema, name)]))
  }
  if (required.length > 0) printed['required'] = required
  if (node.rules.length > 0) printed['x-kubernetes-validations'] = node.rules.flatMap(toCel)
  return printed
}

/** Replaces a pattern by a rule with a readable message; the API server's message for a pattern is not helpful. */
function withPlainWords({ pattern, ...crd }: JsonObject): JsonObject {
  if (typeof pattern !== 'string' || crd['type'] !== 'string') return pattern === undefined ? crd : { ...crd, pattern }
  const form = { rule: `self.matches('${pattern}')`, message: 'invalid duration value' }
  return { ...crd, 'x-kubernetes-validations': [form, ...((crd['x-kubernetes-validations'] ?? []) as JsonObject[])] }
}

/** Adds the name of the value to the messages of its rules, because the API server only reports the path. */
function withName(crd: JsonObject, name: string | null): JsonObject {
  const rules = crd['x-kubernetes-validations']
  if (name === null || !Array.isArray(rules)) return crd
  const named = (rules as unknown as CelRule[]).map(({ rule, message }) => ({
    rule,
    message: message.startsWith('must ') ? `${name} ${message}` : message,
  }))
  return { ...crd, 'x-kubernetes-validations': named }
}

/** A rule that the API server evaluates, and the message when it is false. */
type CelRule = { rule: string; message: string }

function toCel(rule: Rule): CelRule[] {
  switch (rule.rule) {
    case 'onlyWith':
      return [
        {
          rule: `!has(self.${rule.key}) || has(self.${rule.needs})`,
          message: `${rule.key} may only be set with ${rule.needs}`,
        },
      ]
    case 'requiredWhen':
    case 'requiredUnless': {
      const isWhen = rule.rule === 'requiredWhen'
      const isOther = `!has(self.${rule.other}) || self.${rule.other} ${isWhen ? '!=' : '=='} '${rule.word}'`
      const message = `${rule.key} is required ${isWhen ? 'when' : 'unless'} ${rule.other} is ${rule.word}`
      return [{ rule: `${isOther} || has(self.${rule.key})`, message }]
    }
    case 'uniqueAcross': {
      const { key, items, by } = rule
      const twins = `self.${key}.map(y, y.${items}.filter(z, z.${by} == x.${by}).size()).sum()`
      const each = `!has(self.${key}) || self.${key}.all(w, w.${items}.all(x, ${twins} == 1))`
      return [{ rule: each, message: `each ${by} must be unique across all ${key}` }]
    }
    case 'other':
      return [{ rule: rule.cel, message: rule.message }]
    case 'conditional':
      return conditionalRules(rule)
    case 'exactlyOneOf':
    case 'atMostOneOf':
    case 'atLeastOneOf':
      return [countOf(rule)]
  }
}

function countOf(rule: Rule & { rule: 'exactlyOneOf' | 'atMostOneOf' | 'atLeastOneOf' }): CelRule {
  const many = { exactlyOneOf: 'exactly', atMostOneOf: 'at most', atLeastOneOf: 'at least' }[rule.rule]
  return {
    rule: countRule(rule.rule, rule.keys),
    message: `${many} one of the fields in [${rule.keys.join(' ')}] ${rule.rule === 'atMostOneOf' ? 'may' : 'must'} be set`,
  }
}

/** The shortest form of the rule, because definitions repeat some rules dozens of times. */
function countRule(rule: 'exactlyOneOf' | 'atMostOneOf' | 'atLeastOneOf', keys: readonly string[]): string {
  const present = keys.map((key) => `has(self.${key})`)
  if (rule === 'atLeastOneOf') return present.join(' || ')
  if (rule === 'exactlyOneOf') return `[${present.join(', ')}].exists_one(x, x)`
  if (present.length === 2) return present.map((each) => `!${each}`).join(' || ')
  return `[${present.join(', ')}].filter(x, x).size() <= 1`
}

function conditionalRules({ key, plain, required }: Rule & { rule: 'conditional' }): CelRule[] {
  const list = `self.${key}`
  const others = plain.map((name) => `has(self.${name})`).join(' || ')
  const early = `${list}.filter(x, !has(x.condition)).size()`
  const last = `has(${list}[${list}.size() - 1].condition)`
  return [
    { rule: `!has(${list}) || !(${others})`, message: `${key} cannot be set with any other field` },
    {
      rule: `!has(${list}) || ${early} == 0 || (${early} == 1 && !${last})`,
      message: `${key} entries without condition must be last`,
    },
    ...required.map((name) => ({ rule: `has(${list}) || has(self.${name})`, message: `${name}: Required value` })),
  ]
}
