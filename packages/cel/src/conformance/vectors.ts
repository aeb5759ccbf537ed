import { tests } from '@bufbuild/cel-spec/testdata/conformance.js'
import type { FunctionDefinition, VariableType } from '../declarations.ts'
import { dyn, overload, value } from '../declarations.ts'
import { CelError } from '../error.ts'
import { decodeBase64 } from '../run/base64.ts'
import { toDouble } from '../run/numbers.ts'
import type { JsonType } from './json-types.ts'
import { readType } from './json-types.ts'
import { TypeValue, Uint } from '../value.ts'
import type { MapKey, Value } from '../value.ts'

/** One official conformance test of the language (cel-spec v0.25.1). */
export interface Vector {
  section: string
  name: string
  source: string
  container: string
  lenient: boolean
  /** Whether the vector is only type-checked, not evaluated. */
  checkOnly: boolean
  variables: Readonly<Record<string, VariableType>>
  /** Functions that only this vector declares; they are type-checked but not called. */
  functions: readonly FunctionDefinition[]
  /** The type that a type checker must deduce. */
  deducedType: JsonType | undefined
  scope: Readonly<Record<string, Value>>
  /** The expected value; undefined when the evaluation must fail. */
  expected: Value | undefined
}

/** Sections of the core language. */
export const coreSections = [
  'basic',
  'comparisons',
  'conversions',
  'fields',
  'fp_math',
  'integer_math',
  'lists',
  'logic',
  'macros',
  'namespace',
  'plumbing',
  'parse',
  'string',
  'timestamps',
]
/** Sections of extensions that need no protobuf. */
export const extensionSections = [
  'macros2',
  'string_ext',
  'math_ext',
  'optionals',
  'bindings_ext',
  'encoders_ext',
  'block_ext',
  'type_deductions',
]

/** Loads the vectors of these sections that use neither messages nor enums. */
export function loadVectors(): Vector[] {
  const sections = new Set([...coreSections, ...extensionSections])
  return (tests.suites ?? [])
    .filter(({ name }) => sections.has(name))
    .flatMap((section) =>
      (section.suites ?? []).flatMap((suite) => (suite.tests ?? []).map((test) => ({ section, suite, test }))),
    )
    .filter(({ test }) => !PROTOBUF.test(JSON.stringify(test.original)))
    .map(({ section, suite, test }) => toVector(section.name, suite.name, test.original as Original))
}

const PROTOBUF =
  /objectValue|messageType|enumValue|"container":"cel\.expr|TestAllTypes|GlobalEnum|google\.protobuf\.\w+\s*\{|proto\.(?:has|get)Ext/

interface Original {
  name?: string
  expr: string
  container?: string
  disableCheck?: boolean
  checkOnly?: boolean
  typeEnv?: { name: string; ident?: { type: JsonType }; function?: { overloads: JsonOverload[] } }[]
  bindings?: Record<string, { value?: JsonValue }>
  value?: JsonValue
  typedResult?: { result?: JsonValue; deducedType?: JsonType }
  evalError?: object
}

interface JsonOverload {
  params: JsonType[]
  resultType: JsonType
}

interface JsonValue {
  nullValue?: null
  boolValue?: boolean
  int64Value?: string
  uint64Value?: string
  doubleValue?: number | string
  stringValue?: string
  bytesValue?: string
  typeValue?: string
  listValue?: { values?: JsonValue[] }
  mapValue?: { entries?: { key: JsonValue; value: JsonValue }[] }
}

function toVector(section: string, suite: string, original: Original): Vector {
  const bindings = Object.entries(original.bindings ?? {})
  const result = original.value ?? original.typedResult?.result
  return {
    section,
    name: `${section}/${suite}/${original.name ?? original.expr}`,
    source: original.expr,
    container: original.container ?? '',
    lenient: original.disableCheck ?? false,
    checkOnly: original.checkOnly ?? false,
    variables: variablesOf(original),
    functions: (original.typeEnv ?? []).flatMap((declared) =>
      declared.function === undefined ? [] : [toFunction(declared.name, declared.function.overloads)],
    ),
    deducedType: original.typedResult?.deducedType,
    scope: Object.fromEntries(bindings.map(([name, binding]) => [name, decode(binding.value!)])),
    expected: original.evalError ? undefined : result === undefined ? true : decode(result),
  }
}

/** Bindings without a declaration are `dyn`. */
function variablesOf({ typeEnv = [], bindings = {} }: Original): Record<string, VariableType> {
  return {
    ...Object.fromEntries(Object.keys(bindings).map((name) => [name, dyn])),
    ...Object.fromEntries(typeEnv.flatMap(({ name, ident }) => (ident ? [[name, value(readType(ident.type))]] : []))),
  }
}

function toFunction(name: string, overloads: readonly JsonOverload[]): FunctionDefinition {
  return {
    name,
    style: 'global',
    minArgs: Math.min(...overloads.map(({ params }) => params.length)),
    maxArgs: Math.max(...overloads.map(({ params }) => params.length)),
    summary: 'Of a test.',
    overloads: overloads.map(({ params, resultType }) => overload(params.map(readType), readType(resultType))),
    call: () => new CelError('internal', 'cannot be called'),
  }
}

function decode(json: JsonValue): Value {
  if (json.boolValue !== undefined) return json.boolValue
  if (json.int64Value !== undefined) {
    const value = BigInt(json.int64Value)
    return Number.isSafeInteger(Number(value)) ? Number(value) : value
  }
  if (json.uint64Value !== undefined) return new Uint(BigInt(json.uint64Value))
  if (json.doubleValue !== undefined) return toDouble(Number(json.doubleValue))
  if (json.stringValue !== undefined) return json.stringValue
  if (json.bytesValue !== undefined) return decodeBase64(json.bytesValue)!
  if (json.typeValue !== undefined) return new TypeValue(json.typeValue)
  if (json.listValue !== undefined) return (json.listValue.values ?? []).map(decode)
  if (json.mapValue === undefined) return null
  return new Map((json.mapValue.entries ?? []).map(({ key, value }) => [decode(key) as MapKey, decode(value)]))
}
