import { fieldOf } from '../kit.ts'
import type { JsonObject, ObjectNode, Schema } from '../kit.ts'
import { printRule } from '../rules.ts'
import type { Rule } from '../rules.ts'

/**
 * The definition as a structural OpenAPI schema for a CustomResourceDefinition. Rules between keys become CEL rules,
 * because a structural schema has no unions; what exists in the file only is left out.
 */
export function toCrdSchema(schema: Schema): JsonObject {
  const { node, description, default: fallback, resourceForm } = fieldOf(schema)
  if (resourceForm !== null) return { ...toCrdSchema(resourceForm), ...(description === '' ? {} : { description }) }
  const notes: JsonObject = description === '' ? {} : { description }
  if (fallback !== undefined) notes['default'] = fallback
  switch (node.kind) {
    case 'scalar':
      return { ...notes, ...node.crd }
    case 'list':
      return {
        ...notes,
        type: 'array',
        items: toCrdSchema(node.item),
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
        additionalProperties: toCrdSchema(node.value),
        minProperties: node.min,
        maxProperties: node.max,
      }
    case 'object':
      return { ...notes, ...printObject(node) }
  }
}

function printObject(node: ObjectNode): JsonObject {
  const fields = Object.entries(node.fields).filter(([, schema]) => !fieldOf(schema).fileOnly)
  const required = fields.filter(([, schema]) => fieldOf(schema).required).map(([name]) => name)
  const names = new Set(fields.map(([name]) => name))
  const rules = node.rules.map((rule) => withKeys(rule, names)).filter((rule) => rule !== null)
  const printed: JsonObject = {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, schema]) => [name, toCrdSchema(schema)])),
  }
  if (required.length > 0) printed['required'] = required
  if (rules.length > 0) {
    printed['x-kubernetes-validations'] = rules.map((rule) => ({ rule: toCel(rule), message: printRule(rule) }))
  }
  return printed
}

/** A rule may not speak of keys that were left out. */
function withKeys(rule: Rule, names: ReadonlySet<string>): Rule | null {
  if (rule.rule === 'onlyWith') return names.has(rule.key) && names.has(rule.needs) ? rule : null
  if (rule.rule === 'uniqueAcross') return names.has(rule.key) ? rule : null
  if (rule.rule === 'requiredWhen' || rule.rule === 'requiredUnless') {
    return names.has(rule.key) && names.has(rule.other) ? rule : null
  }
  if (rule.rule === 'conditional')
    return {
      ...rule,
      plain: rule.plain.filter((key) => names.has(key)),
      required: rule.required.filter((key) => names.has(key)),
    }
  const keys = rule.keys.filter((key) => names.has(key))
  return keys.length === 0 || (keys.length === 1 && rule.rule === 'atMostOneOf') ? null : { ...rule, keys }
}

function toCel(rule: Rule): string {
  if (rule.rule === 'onlyWith') return `!has(self.${rule.key}) || has(self.${rule.needs})`
  if (rule.rule === 'requiredWhen' || rule.rule === 'requiredUnless') {
    const isOther = rule.rule === 'requiredWhen' ? '!=' : '=='
    return `!has(self.${rule.other}) || self.${rule.other} ${isOther} '${rule.word}' || has(self.${rule.key})`
  }
  if (rule.rule === 'uniqueAcross') {
    const { key, items, by } = rule
    const twins = `self.${key}.map(y, y.${items}.filter(z, z.${by} == x.${by}).size()).sum()`
    return `!has(self.${key}) || self.${key}.all(w, w.${items}.all(x, ${twins} == 1))`
  }
  if (rule.rule === 'conditional') {
    const list = `self.${rule.key}`
    const plain = rule.plain.map((key) => `has(self.${key})`).join(' || ')
    const early = `${list}.filter(x, !has(x.condition)).size()`
    const last = `has(${list}[${list}.size() - 1].condition)`
    const without = rule.required.map((key) => `has(self.${key})`).join(' && ')
    const forms = `(!(${plain}) && (${early} == 0 || (${early} == 1 && !${last})))`
    return without === '' ? `!has(${list}) || ${forms}` : `has(${list}) ? ${forms} : (${without})`
  }
  const present = rule.keys.map((key) => `has(self.${key})`).join(', ')
  const compared = { exactlyOneOf: '==', atMostOneOf: '<=', atLeastOneOf: '>=' }[rule.rule]
  return `[${present}].filter(x, x).size() ${compared} 1`
}
