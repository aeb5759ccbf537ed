import * as z from 'zod'
import type { ProblemCode } from './problem.ts'
import type { NamedBackend } from './named-backend.ts'
import { brokenRules } from './rules.ts'
import type { ExactlyOneOf, Rule } from './rules.ts'

// A config is read once in a while: code made for its validation would cost more than it saves.
z.config({ jitless: true })

/** A definition: parses unknown input into `Out`, and carries the data that every printer reads. */
export type Schema<Out = unknown> = z.ZodType<Out>
export type Output<S extends Schema> = z.output<S>
export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [key: string]: Json }

/** What a definition is, apart from its presence in a mapping. */
export type Node = ObjectNode | ListNode | MapNode | ScalarNode

export interface ObjectNode {
  kind: 'object'
  fields: Record<string, Schema>
  rules: readonly Rule[]
}

export interface ListNode {
  kind: 'list'
  item: Schema
  min: number
  max: number
  /** The key under which every item must have a value of its own. */
  uniqueBy: string | null
}

/** A mapping whose keys the user names. */
export interface MapNode {
  kind: 'map'
  value: Schema
  min: number
  max: number
}

export interface ScalarNode {
  kind: 'scalar'
  /** What it makes of an input, or why it refuses it. */
  read: (input: unknown) => unknown
  /** Name of the type in the reference pages. */
  type: string
  /** Completes "expected ...". */
  expected: string
  json: JsonObject
  crd: JsonObject
  /** Legal words, for suggestions and pages. */
  values: readonly string[]
  /** Set where the value stands for something else: `sources` puts that in its place. */
  refers: Refers | null
  /** Messages must not repeat it. */
  secret: boolean
}

/** What a scalar stands for. */
export type Refers = ContentsReference | BackendReference | ExpressionReference | Deprecation

/** An expression; it stays as it is, but may deserve a warning. */
export interface ExpressionReference {
  to: 'expression'
  /** What is doubtful about it, as far as it can be told without a request; `around` gives what it stands in, by levels. */
  doubts(input: unknown, around: (levels: number) => unknown): { found: string; expected: string }[]
}

/** Nothing else, but the mapping that it stands in should be written otherwise. */
export interface Deprecation {
  to: 'deprecated'
  /** What to write. */
  instead: string
}

/** A text that lies elsewhere, or must be parsed; `locate` gives null where there is none, or where the input is wrong. */
export interface ContentsReference {
  to: 'contents'
  locate(input: unknown): { file: string } | { env: string } | { text: string } | null
  /** Completes "expected ...", for the text. */
  expected: string
  /** What the text must be beyond what `read` can tell. */
  pem: 'certificate' | 'privateKey' | 'authorities' | null
  /** What comes out, or why the text cannot be used. */
  read(text: string, parse: ParseText): unknown
}

/** What a text in YAML or JSON says: definitions know no parser, those who read the config have one. */
export type ParseText = (text: string) => { value: Json } | { fault: string }

/** A backend, by its name or by what it is; its key comes out. */
export interface BackendReference {
  to: 'backend'
  /** The backend must lead to one place, whatever clients say. */
  fixed: boolean
  locate(input: unknown): NamedBackend | null
}

/** How custom resources write what the file writes in a local form. */
export interface ResourceForm {
  schema: Schema
  /** What the definition of the file would have given, or why there is nothing; null where it comes out as it is. */
  settle: ((value: unknown, objects: ReferredObjects) => unknown) | null
}

/** Objects of a cluster that a resource names. A refusal says why there is none. */
export interface ReferredObjects {
  /** Its entries, as texts. */
  secret(name: string): Entries | Refusal
  /** Entries of all that have these labels, by the names of the Secrets. */
  secrets(labels: Readonly<Record<string, string>>): Readonly<Record<string, Entries>> | Refusal
  configMap(name: string): Entries | Refusal
  /** The key of a backend. */
  backend(reference: ReferredBackend): string | Refusal
}

export type Entries = Readonly<Record<string, string>>

export interface ReferredBackend {
  group: string
  kind: string
  name: string
  namespace?: string | undefined
  port?: number | undefined
}

/** What a definition is as a key of a mapping. */
export interface Field {
  node: Node
  required: boolean
  /** In the form a user would write. */
  default: Json | undefined
  description: string
  fileOnly: boolean
  /** How custom resources write it, when that is otherwise. */
  resourceForm: ResourceForm | null
  /** Whether the file may also write it as a list of one. */
  mayBeList: boolean
}

/** The same keys, none of them required. */
export type OptionalShape<Shape extends Record<string, Schema>> = { [Name in keyof Shape]: z.ZodOptional<Shape[Name]> }

type Parsed<Shape extends Record<string, Schema>> = z.output<z.ZodObject<Shape, z.core.$strict>>

/** What is left of a type when exactly one of some keys is set. Keys that are known only at run time say nothing. */
type WithOne<Out, Key extends PropertyKey> = string extends Key
  ? Out
  : {
      [One in Key]: Omit<Out, Key> & { [Name in One & keyof Out]-?: Exclude<Out[Name], undefined> } & {
        [Other in Exclude<Key, One>]?: undefined
      }
    }[Key]
type KeysOf<Rules extends readonly Rule[]> = Extract<Rules[number], ExactlyOneOf>['keys'][number]
type ByRules<Out, Rules extends readonly Rule[]> = [KeysOf<Rules>] extends [never] ? Out : WithOne<Out, KeysOf<Rules>>

export function object<Shape extends Record<string, Schema>>(shape: Shape): Schema<Parsed<Shape>>
export function object<Shape extends Record<string, Schema>, const Rules extends readonly Rule[]>(
  shape: Shape,
  rules: Rules,
): Schema<ByRules<Parsed<Shape>, Rules>>
export function object(shape: Record<string, Schema>, rules: readonly Rule[] = []): Schema {
  let schema = z.strictObject(shape)
  if (rules.length > 0) {
    // `when` makes the rules speak even if other parts of the value have problems, so all are reported at once.
    schema = schema.superRefine(
      (value, context) => {
        for (const broken of brokenRules(rules, value))
          context.addIssue({ code: 'custom', params: broken satisfies IssueParams })
      },
      { when: () => true },
    )
  }
  return withNode(schema, { kind: 'object', fields: shape, rules })
}

export function list<Item extends Schema>(item: Item, size: { min?: number; max: number; uniqueBy?: string }) {
  const { min = 0, max, uniqueBy = null } = size
  let schema = z.array(item).min(min).max(max)
  if (uniqueBy !== null) {
    schema = schema.superRefine(
      (items, context) => {
        for (const { index, found } of repeated(items, uniqueBy)) {
          const params: IssueParams = { code: 'duplicate', found, expected: `each \`${uniqueBy}\` once` }
          context.addIssue({ code: 'custom', path: [index, uniqueBy], params })
        }
      },
      { when: () => true },
    )
  }
  return withNode(schema, { kind: 'list', item, min, max, uniqueBy })
}

/** Items that have what another has under this key. */
export function repeated(items: unknown, key: string): { index: number; found: string }[] {
  if (!Array.isArray(items)) return []
  const seen = new Set<string>()
  const found: { index: number; found: string }[] = []
  for (const [index, item] of items.entries()) {
    const value: unknown = (item as Record<string, unknown> | null)?.[key]
    if (typeof value !== 'string') continue
    if (seen.has(value)) found.push({ index, found: `found ${JSON.stringify(value)} a second time` })
    seen.add(value)
  }
  return found
}

/** Names chosen by the user, each with a value of one kind. */
export function map<Value extends Schema>(value: Value, size: { min?: number; max: number }) {
  const min = size.min ?? 0
  const schema = z.record(z.string(), value).superRefine(
    (entries, context) => {
      if (typeof entries !== 'object' || entries === null) return
      const count = Object.keys(entries).length
      if (count < min || count > size.max) {
        context.addIssue({ code: 'custom', params: { code: 'out_of_range' } satisfies IssueParams })
      }
    },
    { when: () => true },
  )
  return withNode(schema, { kind: 'map', value, min, max: size.max })
}

/** A value that `read` turns into `Out`, or refuses. */
export function scalar<Out>(
  read: (input: unknown) => Out | Refusal,
  node: Omit<ScalarNode, 'kind' | 'read' | OptionalPart> & Partial<Pick<ScalarNode, OptionalPart>>,
): z.ZodType<Out> {
  const schema = z.transform((input: unknown, context): Out => {
    const result = read(input)
    if (!(result instanceof Refusal)) return result
    const { code, detail, suggestion } = result
    context.issues.push({ code: 'custom', input, params: { code, detail, suggestion } satisfies IssueParams })
    return z.NEVER
  })
  const defaults = { crd: node.json, values: [], refers: null, secret: false }
  return withNode(schema as unknown as z.ZodType<Out>, { kind: 'scalar', read, ...defaults, ...node })
}

type OptionalPart = 'crd' | 'values' | 'refers' | 'secret'

/** What our own checks tell the validator through Zod. */
export interface IssueParams {
  code: ProblemCode
  found?: string
  /** Replaces the expectation of the definition. */
  expected?: string
  /** The key at fault, when the issue lies on a whole mapping. */
  key?: string
  /** Keys of which one would have mended it. */
  absent?: readonly string[]
  detail?: string | null
  suggestion?: string | null
}

/** Why a scalar was refused; `detail` goes behind the expectation. */
export class Refusal {
  readonly code: ProblemCode
  readonly detail: string | null
  readonly suggestion: string | null

  constructor(code: ProblemCode, extra: { detail?: string; suggestion?: string | null } = {}) {
    this.code = code
    this.detail = extra.detail ?? null
    this.suggestion = extra.suggestion ?? null
  }
}

/** Exists in the config file only; the printer of custom resources leaves it out. */
export function fileOnly<S extends Schema>(schema: S): S {
  return remember(schema.clone(), { fileOnly: true })
}

/** The file writes it in a local form; custom resources use `resource` instead, of which `settle` makes the same. */
export function localForm<S extends Schema, R extends Schema>(
  schema: S,
  resource: R,
  settle: ((value: Output<R>, objects: ReferredObjects) => Output<S> | Refusal) | null,
): S {
  const form: ResourceForm = { schema: resource, settle: settle as ResourceForm['settle'] }
  return remember(schema.clone(), { resourceForm: form })
}

/** The file may write a list of one around it, as custom resources do. */
export function orListOfOne<S extends Schema>(schema: S): S {
  return remember(schema.clone(), { mayBeList: true })
}

/** Reads a definition from the outside in, through optional and default wrappers. */
export function fieldOf(schema: Schema): Field {
  const field = {
    required: true,
    default: undefined as Json | undefined,
    description: '',
    fileOnly: false,
    resourceForm: null as ResourceForm | null,
    mayBeList: false,
  }
  let current = schema
  for (;;) {
    const known = knownOf(current)
    field.description ||= current.description ?? ''
    field.fileOnly ||= known.fileOnly ?? false
    field.resourceForm ??= known.resourceForm ?? null
    field.mayBeList ||= known.mayBeList ?? false
    if (known.node !== undefined) return { node: known.node, ...field }
    if (current instanceof z.ZodPrefault) field.default ??= current.def.defaultValue as Json
    else if (!(current instanceof z.ZodOptional)) throw new Error('a schema must be made by the kit')
    field.required = false
    current = current.def.innerType as Schema
  }
}

/** What stands for a key that is not there: nothing, a value to be read in its place (a new one each time), or null where only Zod knows. */
export function absenceOf(schema: Schema): 'nothing' | (() => Json) | null {
  if (schema instanceof z.ZodPrefault) return () => schema.def.defaultValue as Json
  if (!(schema instanceof z.ZodOptional)) return null
  return typeof absenceOf(schema.def.innerType as Schema) === 'function' ? null : 'nothing'
}

export function nodeOf(schema: Schema): Node {
  return fieldOf(schema).node
}

interface Known {
  node?: Node
  fileOnly?: boolean
  resourceForm?: ResourceForm
  mayBeList?: boolean
}

const memory = new WeakMap<object, Known>()

/** Zod clones a schema on `.describe` and the like; what was said of the original holds for the clone. */
function knownOf(schema: Schema): Known {
  const parent = schema._zod.parent as Schema | undefined
  return { ...(parent === undefined ? {} : knownOf(parent)), ...memory.get(schema) }
}

function withNode<S extends Schema>(schema: S, node: Node): S {
  return remember(schema, { node })
}

function remember<S extends Schema>(schema: S, known: Known): S {
  memory.set(schema, { ...memory.get(schema), ...known })
  return schema
}
