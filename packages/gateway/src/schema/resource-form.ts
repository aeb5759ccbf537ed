import { isObject } from '@portico/http/json'
import { fieldOf, list, map, object, Refusal, scalar } from './kit.ts'
import type { Field, JsonObject, ObjectNode, ReferredObjects, ScalarNode, Schema } from './kit.ts'
import type { Path, Problem } from './problem.ts'
import { ruleOver } from './rules.ts'
import type { Rule } from './rules.ts'

/** Custom resources: the same definitions, without file-only parts, and with references in the syntax of clusters. */

const formsBySchema = new WeakMap<Schema, Schema>()

/** The definition for custom resources. It accepts exactly the values that the printed CRD schema accepts. */
export function inResource(schema: Schema): Schema {
  const known = formsBySchema.get(schema)
  if (known !== undefined) return known
  const made = withPresence(fieldOf(schema), formOf(fieldOf(schema)))
  formsBySchema.set(schema, made)
  return made
}

function formOf({ node, resourceForm }: Field): Schema {
  if (resourceForm !== null) return formOf(fieldOf(resourceForm.schema))
  switch (node.kind) {
    case 'scalar':
      return strictScalar(node)
    case 'list':
      return list(inResource(node.item), {
        min: node.min,
        max: node.max,
        ...(node.uniqueBy !== null && { uniqueBy: node.uniqueBy }),
      })
    case 'map':
      return map(inResource(node.value), node)
    case 'object':
      return objectForm(node)
  }
}

function withPresence({ required, default: fallback, description, resourceForm }: Field, form: Schema): Schema {
  const described = description === '' && resourceForm !== null ? fieldOf(resourceForm.schema).description : description
  if (required) return form.describe(described)
  return (fallback === undefined ? form.optional() : form.prefault(fallback)).describe(described)
}

function objectForm(node: ObjectNode): Schema {
  const names = Object.keys(node.fields).filter((name) => !isFileOnly(node.fields[name]))
  const rules = node.rules.map((rule) => ruleOver(rule, new Set(names))).filter((rule) => rule !== null)
  // When only one key of a rule is left, that key is required.
  const needed = new Set(rules.filter(isNeedOfOne).map(({ keys }) => keys[0]))
  const shape = Object.fromEntries(
    names.map((name) => {
      const form = inResource(node.fields[name] as Schema)
      return [name, needed.has(name) ? asRequired(form) : form]
    }),
  )
  const rest = rules.filter((rule) => !isNeedOfOne(rule) && !(rule.rule === 'onlyWith' && needed.has(rule.needs)))
  return object(shape, rest)
}

function isNeedOfOne(rule: Rule): rule is Rule & { keys: readonly string[] } {
  return (rule.rule === 'exactlyOneOf' || rule.rule === 'atLeastOneOf') && rule.keys.length === 1
}

function asRequired(schema: Schema): Schema {
  const { description, ...field } = fieldOf(schema)
  return formOf({ ...field, description }).describe(description)
}

function isFileOnly(schema: Schema | undefined): boolean {
  return schema === undefined || fieldOf(schema).fileOnly
}

/** A scalar as strict as the API server, which accepts words in one letter case and durations in whole units only. */
function strictScalar(node: ScalarNode): Schema {
  const { kind: _kind, read: readAnyForm, refers, ...rest } = node
  const read = (input: unknown): unknown => (isWithin(node.crd, input) ? readAnyForm(input) : refusalOf(node, input))
  return scalar(read, { ...rest, refers: refers?.to === 'expression' ? refers : null })
}

/** The refusal by the definition itself, or else a refusal of the form. */
function refusalOf(node: ScalarNode, input: unknown): Refusal {
  const refused = node.read(input)
  if (refused instanceof Refusal) return refused
  return new Refusal(Array.isArray(node.crd['enum']) ? 'not_allowed' : 'bad_format')
}

/** Whether the input matches the CRD schema; supports the part of OpenAPI that scalars use. */
function isWithin(schema: JsonObject, input: unknown): boolean {
  const { type, enum: words, pattern, minLength = 0, maxLength = Infinity, minimum, maximum } = schema
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return type !== 'object' || isObject(input)
  if (Array.isArray(words) && !words.some((word) => word === input)) return false
  if (typeof input === 'string') {
    if (type !== undefined && type !== 'string') return false
    const size = Array.from(input).length
    return (
      size >= Number(minLength) &&
      size <= Number(maxLength) &&
      (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(input))
    )
  }
  if (typeof input === 'number') {
    if (type === undefined || type === 'integer' ? !Number.isInteger(input) : type !== 'number') return false
    return input >= Number(minimum ?? -Infinity) && input <= Number(maximum ?? Infinity)
  }
  return typeof input === 'boolean' && type === 'boolean'
}

/** A value of a custom resource, converted to the form of the file. */
export interface ResolvedValue<Out> {
  /** The value without the parts that have problems. */
  value: Out
  problems: Problem[]
}

/** Replaces references by the contents of the cluster objects. The value was read by `inResource`. */
export function resolveReferences<Out>(
  schema: Schema<Out>,
  value: unknown,
  objects: ReferredObjects,
  at: Path = [],
): ResolvedValue<Out> {
  const problems: Problem[] = []
  return { value: resolveAt(schema, value, at, { objects, problems }) as Out, problems }
}

interface Resolving {
  objects: ReferredObjects
  problems: Problem[]
}

function resolveAt(schema: Schema, value: unknown, at: Path, resolving: Resolving): unknown {
  if (value === undefined) return undefined
  const { node, resourceForm } = fieldOf(schema)
  if (resourceForm !== null) {
    const inner = resolveAt(resourceForm.schema, value, at, resolving)
    return resourceForm.resolve === null
      ? inner
      : accepted(resourceForm.resolve(inner, resolving.objects), at, resolving)
  }
  switch (node.kind) {
    case 'scalar':
      return value
    case 'list':
      return (value as unknown[]).map((item, index) => resolveAt(node.item, item, [...at, index], resolving))
    case 'map':
      return mapValues(value as object, (name, item) => resolveAt(node.value, item, [...at, name], resolving))
    case 'object':
      return mapValues(value as object, (name, item) => {
        const field = node.fields[name]
        return field === undefined ? item : resolveAt(field, item, [...at, name], resolving)
      })
  }
}

function accepted(result: unknown, at: Path, { problems }: Resolving): unknown {
  if (!(result instanceof Refusal)) return result
  const found = result.detail ?? 'found no usable value'
  problems.push({
    code: result.code,
    path: at,
    at: 'value',
    found,
    expected: '',
    suggestion: null,
  })
  return undefined
}

function mapValues(members: object, change: (name: string, value: unknown) => unknown): Record<string, unknown> {
  const entries = Object.entries(members).map(([name, value]) => [name, change(name, value)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}
