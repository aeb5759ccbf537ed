import type { Json, JsonObject } from '../formats/json.ts'
import type { ProblemCode } from './problem.ts'
import type { NamedBackend } from './named-backend.ts'
import { atLeastOneOf, type ExactlyOneOf, type Rule } from './rules.ts'

/**
 * A definition as data, from which the reader (`quick-read.ts`), the validator (`zod.ts`) and every printer are
 * derived. `Absent` tells the type checker that the key may be absent.
 */
export class Schema<out Out = unknown, out Absent extends boolean = boolean> {
  declare readonly output: Out
  declare readonly mayBeAbsent: Absent
  readonly field: Field
  /** The declarations about absence, the last one first. */
  readonly absences: readonly Absence[]

  constructor(field: Field, absences: readonly Absence[]) {
    this.field = field
    this.absences = absences
  }

  optional(): Schema<Out | undefined, true> {
    return new Schema({ ...this.field, required: false }, [{ kind: 'nothing' }, ...this.absences])
  }

  /** Sets the value that is read when the key is absent, as if the user had written it. */
  prefault(value: Json): Schema<Exclude<Out, undefined>, false> {
    return new Schema({ ...this.field, required: false, default: value }, [
      { kind: 'default', value },
      ...this.absences,
    ])
  }

  describe(description: string): this {
    return this.with({ description })
  }

  /** A copy of the definition with other attributes; the original does not change. */
  with(said: Partial<Omit<Field, 'node' | 'required' | 'default'>>): this {
    return new Schema({ ...this.field, ...said }, this.absences) as this
  }
}

export type Absence = { kind: 'nothing' } | { kind: 'default'; value: Json }
export type Output<S extends Schema> = S extends Schema<infer Out> ? Out : never
export type { Json, JsonObject }

/** A definition without its presence in a mapping. */
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
  /** The key whose value must be unique among the items. */
  uniqueBy: string | null
}

/** A mapping with user-defined keys. */
export interface MapNode {
  kind: 'map'
  value: Schema
  min: number
  max: number
}

export interface ScalarNode {
  kind: 'scalar'
  /** Converts an input, or returns a `Refusal`. */
  read: (input: unknown) => unknown
  /** The name of the type in the reference pages. */
  type: string
  /** Completes "expected ...". */
  expected: string
  json: JsonObject
  crd: JsonObject
  /** The legal words, for suggestions and reference pages. */
  values: readonly string[]
  /** Set when the value refers to something else, which `sources` substitutes. */
  refers: Refers | null
  /** Whether messages must not repeat the value. */
  secret: boolean
}

/** The kinds of references that a scalar can be. */
export type Refers =
  | ContentsReference
  | BackendReference
  | ExpressionReference
  | Deprecation
  | IgnoredWord
  | SettingReference

/** A key that works only with a setting of the file. Nothing is substituted. */
export interface SettingReference {
  to: 'setting'
  path: readonly string[]
}

/** An expression. It is not substituted, but may cause warnings. */
export interface ExpressionReference {
  to: 'expression'
  /** The doubts about an expression that need no request. `around` returns the enclosing value, by number of levels. */
  doubts(input: unknown, around: (levels: number) => unknown): { found: string; expected: string }[]
}

/** A deprecated form. Nothing is substituted, but the enclosing mapping should be written differently. */
export interface Deprecation {
  to: 'deprecated'
  /** The form to write instead. */
  instead: string
}

/** A word without effect. Nothing is substituted, but the word does nothing in this field. */
export interface IgnoredWord {
  to: 'unheeded'
  word: string
  /** The behavior that applies instead. */
  instead: string
}

/**
 * A text in another location, or a text that must be parsed; `locate` returns null when there is none, or when the
 * input is invalid.
 */
export interface ContentsReference {
  to: 'contents'
  locate(input: unknown): { file: string } | { env: string } | { text: string } | null
  /** Completes "expected ...", for the text. */
  expected: string
  /** A requirement on the text that `read` cannot check. */
  pem: 'certificate' | 'privateKey' | 'authorities' | null
  /** Converts the text, or returns a `Refusal`. */
  read(text: string, parse: ParseText): unknown
}

/** Parses YAML or JSON. Definitions have no parser; the reader of the config provides it. */
export type ParseText = (text: string) => { value: Json } | { fault: string }

/** A backend, by name or by address; the output is its key. */
export interface BackendReference {
  to: 'backend'
  /** Whether the destination must be fixed, so that clients cannot choose it. */
  fixed: boolean
  /** The kind that a backend with a name must have; absent when several kinds will do. */
  kind?: 'ai'
  locate(input: unknown): NamedBackend | null
}

/** The form of a value in custom resources when it differs from the form in the file. */
interface ResourceForm {
  schema: Schema
  /**
   * Converts the value to the output of the file's definition, or returns a `Refusal`; null when no conversion is
   * needed.
   */
  resolve: ((value: unknown, objects: ReferredObjects) => unknown) | null
}

/** Cluster objects that a resource refers to. A `Refusal` says why an object is not available. */
export interface ReferredObjects {
  /** The entries of a Secret, as texts. */
  secret(name: string): Entries | Refusal
  /** The entries of all Secrets with these labels, by the names of the Secrets. */
  secrets(labels: Readonly<Record<string, string>>): Readonly<Record<string, Entries>> | Refusal
  configMap(name: string): Entries | Refusal
  /** The key of a backend. */
  backend(reference: ReferredBackend): string | Refusal
  pem: PemChecks
}

/** Checks of certificates, keys and authorities; each returns the problem without repeating the PEM, or null. */
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

/** A definition as a key of a mapping. */
export interface Field {
  node: Node
  required: boolean
  /** The default value, as a user would write it. */
  default: Json | undefined
  description: string
  fileOnly: boolean
  /** The form in custom resources; null when it is the same. */
  resourceForm: ResourceForm | null
  /** Whether the file may also have a list with one item. */
  mayBeList: boolean
  /** The path of a setting of the file that this key needs. */
  needs?: SettingReference
}

/** The same keys, all optional. */
export type OptionalShape<Shape extends Record<string, Schema>> = {
  [Name in keyof Shape]: Schema<Output<Shape[Name]> | undefined, true>
}

type AbsentKeys<Shape extends Record<string, Schema>> = {
  [Name in keyof Shape]: Shape[Name] extends Schema<unknown, true> ? Name : never
}[keyof Shape]
type ParsedObject<Shape extends Record<string, Schema>> = Flat<
  { -readonly [Name in Exclude<keyof Shape, AbsentKeys<Shape>>]: Output<Shape[Name]> } & {
    -readonly [Name in AbsentKeys<Shape>]?: Output<Shape[Name]>
  }
>
type Flat<Type> = { [Name in keyof Type]: Type[Name] } & {}

/** The type that remains when exactly one of some keys is set. Keys known only at run time do not change the type. */
type WithOne<Out, Key extends PropertyKey> = string extends Key
  ? Out
  : {
      [One in Key]: Omit<Out, Key> & { [Name in One & keyof Out]-?: Exclude<Out[Name], undefined> } & {
        [Other in Exclude<Key, One>]?: undefined
      }
    }[Key]
type KeysOf<Rules extends readonly Rule[]> = Extract<Rules[number], ExactlyOneOf>['keys'][number]
type ByRules<Out, Rules extends readonly Rule[]> = [KeysOf<Rules>] extends [never] ? Out : WithOne<Out, KeysOf<Rules>>

export function object<Shape extends Record<string, Schema>>(shape: Shape): Schema<ParsedObject<Shape>, false>
export function object<Shape extends Record<string, Schema>, const Rules extends readonly Rule[]>(
  shape: Shape,
  rules: Rules,
): Schema<ByRules<ParsedObject<Shape>, Rules>, false>
export function object(fields: Record<string, Schema>, rules: readonly Rule[] = []): Schema {
  return define({ kind: 'object', fields, rules })
}

export function list<Item extends Schema>(
  item: Item,
  { min = 0, max, uniqueBy }: { min?: number; max: number; uniqueBy?: string },
): Schema<Output<Item>[], false> {
  return define({ kind: 'list', item, min, max, uniqueBy: uniqueBy ?? null })
}

/** Items whose value under `key` repeats that of an earlier item. */
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

/** A mapping with user-defined names, each with a value of the same definition. */
export function map<Value extends Schema>(
  value: Value,
  { min = 0, max }: { min?: number; max: number },
): Schema<Record<string, Output<Value>>, false> {
  return define({ kind: 'map', value, min, max })
}

/** A value that `read` converts to `Out`, or refuses. */
export function scalar<Out>(
  read: (input: unknown) => Out | Refusal,
  node: Omit<ScalarNode, 'kind' | 'read' | OptionalPart> & Partial<Pick<ScalarNode, OptionalPart>>,
): Schema<Out, false> {
  const defaults = { crd: node.json, values: [], refers: null, secret: false }
  return define({ kind: 'scalar', read, ...defaults, ...node })
}

type OptionalPart = 'crd' | 'values' | 'refers' | 'secret'

/** Warns when `word`, which is legal elsewhere, is written in this field. */
export function unheeded<S extends Schema>(schema: S, word: string, instead: string): S {
  const node = nodeOf(schema)
  if (node.kind !== 'scalar') throw new Error('only a scalar has words')
  return new Schema(
    { ...schema.field, node: { ...node, refers: { to: 'unheeded', word, instead } } },
    schema.absences,
  ) as S
}

/** The reason why a scalar was refused; `detail` follows the expectation in the message. */
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

/** Refuses this key in a file without the setting. */
export function needsSetting<S extends Schema>(schema: S, ...path: string[]): S {
  return schema.with({ needs: { to: 'setting', path } })
}

/** Marks a definition that exists in the config file only; custom resources leave it out. */
export function fileOnly<S extends Schema>(schema: S): S {
  return schema.with({ fileOnly: true })
}

/**
 * Sets the form for custom resources: `resource` instead of `schema`; `resolve` converts its value to the same output.
 */
export function localForm<S extends Schema, R extends Schema>(
  schema: S,
  resource: R,
  resolve: ((value: Output<R>, objects: ReferredObjects) => Output<S> | Refusal) | null,
): S {
  const form: ResourceForm = { schema: resource, resolve: resolve as ResourceForm['resolve'] }
  return schema.with({ resourceForm: form })
}

/** Requires custom resources to set at least one of the keys; the file may leave all of them out. */
export function filledInResources<S extends Schema>(schema: S): S {
  const node = nodeOf(schema)
  if (node.kind !== 'object') throw new Error('only an object has keys')
  return localForm(schema, object(node.fields, [...node.rules, atLeastOneOf(...Object.keys(node.fields))]), null)
}

/** Allows the file to write a list with one item, as custom resources do. */
export function orListOfOne<S extends Schema>(schema: S): S {
  return schema.with({ mayBeList: true })
}

export function fieldOf({ field }: Schema): Field {
  return field
}

/**
 * The substitute for an absent key: nothing, a function that returns a new default value, or null when only Zod can
 * tell.
 */
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
