import type { Random } from '../../../../http/src/http1/fuzz/random.ts'

/** The part of JSON Schema that the printed schema of the config uses. */
export interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  const?: unknown
  enum?: readonly unknown[]
  type?: string | readonly string[]
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  allOf?: readonly Schema[]
  not?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  required?: readonly string[]
  dependentRequired?: Record<string, readonly string[]>
  items?: Schema
  minItems?: number
  maxItems?: number
  minProperties?: number
  maxProperties?: number
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
}

/** Texts and numbers for fields, by the last two keys of their path. */
export interface Vocabulary {
  texts(path: string): readonly string[]
  /** Null when any number of the schema's range will do. */
  numbers(path: string): readonly number[] | null
}

/** Makes random values of a schema; most are valid, because rules across fields are only half understood. */
export class SchemaValues {
  readonly #random: Random
  readonly #root: Schema
  readonly #vocabulary: Vocabulary

  constructor(random: Random, root: Schema, vocabulary: Vocabulary) {
    this.#random = random
    this.#root = root
    this.#vocabulary = vocabulary
  }

  /** The schema that a path of properties leads to; `[]` stands for the items of a list. */
  at(path: readonly string[]): Schema {
    let schema = this.#root
    for (const step of path) {
      const next = step === '[]' ? this.resolve(schema).items : this.resolve(schema).properties?.[step]
      if (next === undefined) throw new Error(`no schema at ${path.join('.')}`)
      schema = next
    }
    return this.resolve(schema)
  }

  resolve(schema: Schema): Schema {
    if (schema.$ref === undefined) return schema
    const found = this.#root.$defs?.[schema.$ref.slice('#/$defs/'.length)]
    if (found === undefined) throw new Error(`no schema ${schema.$ref}`)
    return this.resolve(found)
  }

  make(given: Schema, path: string, depth = 0): unknown {
    const random = this.#random
    const schema = this.resolve(given)
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return random.pick(schema.enum)
    if (schema.type === undefined) {
      const branches = schema.anyOf ?? schema.oneOf
      return branches === undefined ? {} : this.make(random.pick(branches), path, depth)
    }
    const type = typeof schema.type === 'string' ? schema.type : random.pick(schema.type)
    switch (type) {
      case 'object':
        return this.#object(schema, path, depth)
      case 'array':
        return this.#list(schema, path, depth)
      case 'string':
        return this.#text(schema, path)
      case 'boolean':
        return random.chance(50)
      default:
        return this.#number(schema, path, type === 'integer')
    }
  }

  #object(schema: Schema, path: string, depth: number): Record<string, unknown> {
    const { properties = {}, additionalProperties } = schema
    const made: Record<string, unknown> = {}
    const own = path.split('.').at(-1) ?? ''
    for (const name of this.#names(schema, depth)) {
      const property = properties[name]
      if (property !== undefined) made[name] = this.make(property, `${own}.${name}`, depth + 1)
    }
    if (typeof additionalProperties === 'object') {
      const least = schema.minProperties ?? 0
      for (let left = least + this.#random.below(2); left > 0; left--)
        made[this.#random.pick(path.endsWith('.routes') ? PATH_ENDS : NAMES)] = this.make(
          additionalProperties,
          `${path}{}`,
          depth + 1,
        )
    }
    return made
  }

  /** The properties to set: those that are required, and some others, as far as the rules between them allow. */
  #names(schema: Schema, depth: number): Set<string> {
    const random = this.#random
    const { properties = {}, required = [], allOf = [], maxProperties = Infinity, minProperties = 0 } = schema
    const known = Object.keys(properties).filter((name) => !UNREACHABLE.has(name))
    const share = [35, 30, 25, 20][depth] ?? 12
    const names = new Set([...required, ...known.filter(() => random.chance(share))])
    const fixed = new Set(required)
    for (const { oneOf = [], anyOf = [], dependentRequired = {} } of [...allOf, { ...schema, dependentRequired: {} }]) {
      const groups = [...oneOf, ...anyOf]
        .flatMap((branch) => branch.required ?? [])
        .filter((name) => known.includes(name))
      if (groups.length === 0 || (anyOf.length > 0 && groups.some((name) => names.has(name)))) continue
      const isOptional = oneOf.some((branch) => branch.not !== undefined)
      const kept = groups.filter((name) => fixed.has(name) || (isOptional && names.has(name)))
      const chosen = kept[0] ?? (isOptional ? null : random.pick(groups))
      if (oneOf.length > 0) for (const name of groups) names.delete(name)
      if (chosen !== null) {
        fixed.add(chosen)
        names.add(chosen)
      }
      for (const [name, needed] of Object.entries(dependentRequired))
        if (names.has(name)) for (const other of needed) names.add(other)
    }
    if (names.has('conditional') && names.size > 1) {
      if (random.chance(25)) return new Set(['conditional'])
      names.delete('conditional')
    }
    if (typeof schema.additionalProperties === 'object') return names
    while (names.size < minProperties) names.add(random.pick(known))
    return new Set([...names].slice(0, maxProperties))
  }

  #list({ items = {}, minItems = 0, maxItems = 3 }: Schema, path: string, depth: number): unknown[] {
    const length = Math.min(maxItems, minItems + this.#random.below(3))
    return Array.from({ length }, () => this.make(items, `${path}[]`, depth + 1))
  }

  #text({ pattern, minLength = 0, maxLength = 1024 }: Schema, path: string): string {
    const matches = pattern === undefined ? null : new RegExp(pattern, 'u')
    const fit = this.#vocabulary
      .texts(path)
      .filter((text) => text.length >= minLength && text.length <= maxLength && matches?.test(text) !== false)
    return fit.length === 0 ? 'x' : this.#random.pick(fit)
  }

  #number({ minimum = 0, maximum = 1000 }: Schema, path: string, isWhole: boolean): number {
    const known = this.#vocabulary.numbers(path)
    if (known !== null) return this.#random.pick(known)
    const near = Math.min(maximum, minimum + this.#random.below(5))
    const far = Math.min(maximum, 1 + this.#random.below(1000))
    const number = this.#random.pick([minimum, near, near, Math.max(minimum, far)])
    return isWhole ? Math.trunc(number) : number
  }
}

/** Fields that ask services outside of this machine. */
const UNREACHABLE = new Set(['gcp', 'vertexai', 'googleModelArmor'])
const PATH_ENDS = ['*', '/speech', '/chat/completions', '/messages', '/realtime', ':generateContent']
const NAMES = ['a', 'x-a', 'user', 'portico', 'model', 'echo', 'gpt-test']
