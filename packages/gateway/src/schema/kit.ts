import type { Json, JsonObject } from '../formats/json.ts'
import type { ProblemCode } from './problem.ts'
import type { NamedBackend } from './named-backend.ts'
import { atLeastOneOf, type ExactlyOneOf, type Rule } from './rules.ts'

/**
 * A definition, as data: what is read by it (`quick-read.ts`), what is wrong with an input (`zod.ts`) and every printer
 * come from it. `Absent` tells the type checker that its key may be left out.
 */
export class Schema<out Out = unknown, out Absent extends boolean = boolean> {
  declare readonly output: Out
  declare readonly mayBeAbsent: Absent
  readonly field: Field
  /** What was said about its absence, the last first. */
  readonly absences: readonly Absence[]

  constructor(field: Field, absences: readonly Absence[]) {
    this.field = field
    this.absences = absences
  }

  optional(): Schema<Out | undefined, true> {
    return new Schema({ ...this.field, required: false }, [{ kind: 'nothing' }, ...this.absences])
  }

  /** Where its key is left out, this stands there, as if it had been written. */
  prefault(value: Json): Schema<Exclude<Out, undefined>, false> {
    return new Schema({ ...this.field, required: false, default: value }, [
      { kind: 'default', value },
      ...this.absences,
    ])
  }

  describe(description: string): this {
    return this.with({ description })
  }

  /** The same definition with something else said about it; what was made of the first stays as it is. */
  with(said: Partial<Omit<Field, 'node' | 'required' | 'default'>>): this {
    return new Schema({ ...this.field, ...said }, this.absences) as this
  }
}

export type Absence = { kind: 'nothing' } | { kind: 'default'; value: Json }
export type Output<S extends Schema> = S extends Schema<infer Out> ? Out : never
export type { Json, JsonObject }

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
export type Refers = ContentsReference | BackendReference | ExpressionReference | Deprecation | Unheeded

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

/** Nothing else, but one of its words does nothing where it stands. */
export interface Unheeded {
  to: 'unheeded'
  word: string
  /** What holds in its place. */
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
  pem: PemChecks
}

/** What is wrong with a certificate and its key, or with authorities, without repeating them; null when nothing is. */
export interface PemChecks {
  pair(cert: string, key: string): string | null
  authorities(pem: string): string | null
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
export type OptionalShape<Shape extends Record<string, Schema>> = {
  [Name in keyof Shape]: Schema<Output<Shape[Name]> | undefined, true>
}

type AbsentKeys<Shape extends Record<string, Schema>> = {
  [Name in keyof Shape]: Shape[Name] extends Schema<unknown, true> ? Name : never
}[keyof Shape]
type Parsed<Shape extends Record<string, Schema>> = Flat<
  { -readonly [Name in Exclude<keyof Shape, AbsentKeys<Shape>>]: Output<Shape[Name]> } & {
    -readonly [Name in AbsentKeys<Shape>]?: Output<Shape[Name]>
  }
>
type Flat<Type> = { [Name in keyof Type]: Type[Name] } & {}

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

export function object<Shape extends Record<string, Schema>>(shape: Shape): Schema<Parsed<Shape>, false>
export function object<Shape extends Record<string, Schema>, const Rules extends readonly Rule[]>(
  shape: Shape,
  rules: Rules,
): Schema<ByRules<Parsed<Shape>, Rules>, false>
export function object(fields: Record<string, Schema>, rules: readonly Rule[] = []): Schema {
  return define({ kind: 'object', fields, rules })
}

export function list<Item extends Schema>(
  item: Item,
  { min = 0, max, uniqueBy }: { min?: number; max: number; uniqueBy?: string },
): Schema<Output<Item>[], false> {
  return define({ kind: 'list', item, min, max, uniqueBy: uniqueBy ?? null })
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
export function map<Value extends Schema>(
  value: Value,
  { min = 0, max }: { min?: number; max: number },
): Schema<Record<string, Output<Value>>, false> {
  return define({ kind: 'map', value, min, max })
}

/** A value that `read` turns into `Out`, or refuses. */
export function scalar<Out>(
  read: (input: unknown) => Out | Refusal,
  node: Omit<ScalarNode, 'kind' | 'read' | OptionalPart> & Partial<Pick<ScalarNode, OptionalPart>>,
): Schema<Out, false> {
  const defaults = { crd: node.json, values: [], refers: null, secret: false }
  return define({ kind: 'scalar', read, ...defaults, ...node })
}

type OptionalPart = 'crd' | 'values' | 'refers' | 'secret'

/** The same word is legal elsewhere; whoever writes it here gets a warning. */
export function unheeded<S extends Schema>(schema: S, word: string, instead: string): S {
  const node = nodeOf(schema)
  if (node.kind !== 'scalar') throw new Error('only a scalar has words')
  return new Schema(
    { ...schema.field, node: { ...node, refers: { to: 'unheeded', word, instead } } },
    schema.absences,
  ) as S
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
  return schema.with({ fileOnly: true })
}

/** The file writes it in a local form; custom resources use `resource` instead, of which `settle` makes the same. */
export function localForm<S extends Schema, R extends Schema>(
  schema: S,
  resource: R,
  settle: ((value: Output<R>, objects: ReferredObjects) => Output<S> | Refusal) | null,
): S {
  const form: ResourceForm = { schema: resource, settle: settle as ResourceForm['settle'] }
  return schema.with({ resourceForm: form })
}

/** Custom resources must set one of its keys at least; the file may leave all of them out. */
export function filledInResources<S extends Schema>(schema: S): S {
  const node = nodeOf(schema)
  if (node.kind !== 'object') throw new Error('only an object has keys')
  return localForm(schema, object(node.fields, [...node.rules, atLeastOneOf(...Object.keys(node.fields))]), null)
}

/** The file may write a list of one around it, as custom resources do. */
export function orListOfOne<S extends Schema>(schema: S): S {
  return schema.with({ mayBeList: true })
}

export function fieldOf({ field }: Schema): Field {
  return field
}

/** What stands for a key that is not there: nothing, a value to be read in its place (a new one each time), or null where only Zod knows. */
export function absenceOf({ absences: [last, before] }: Schema): 'nothing' | (() => Json) | null {
  if (last === undefined) return null
  if (last.kind === 'default') return () => copyOf(last.value)
  return before?.kind === 'default' ? null : 'nothing'
}

function copyOf(value: Json): Json {
  if (Array.isArray(value)) return [...value]
  return typeof value === 'object' && value !== null ? { ...value } : value
}

export function nodeOf({ field }: Schema): Node {
  return field.node
}

function define<Out>(node: Node): Schema<Out, false> {
  const field = { required: true, default: undefined, description: '', fileOnly: false, resourceForm: null }
  return new Schema({ node, ...field, mayBeList: false }, [])
}
