import type { CallNode, LoopNode, Plan } from '../plan.ts'
import { typeOfValue } from '../run/type-of-value.ts'
import type { Type } from '../types.ts'
import { bool, describeType, int, join, list, listOf, map, mapOf, mayBe, memberOf, never, nullType } from '../types.ts'
import { oneOf, optionalType, partOf, string, uint, within, without } from '../types.ts'
import { declaredType, memberType, optionalMemberType } from './member-types.ts'
import { binaryType, negation } from './operator-types.ts'
import { resultOf } from './overloads.ts'

export interface TypeProblem {
  message: string
  /** The part of the expression that can never work. */
  plan: Plan
  /** The type that the part must have but never has; unset when the part is wrong whatever is around it. */
  wanted?: Type
}

export interface TypeInference {
  problems: TypeProblem[]
  /** The types of the values that each part of the expression may have. */
  types: ReadonlyMap<Plan, Type>
}

/** `inferTypes` computes the possible types of each part and reports parts that can never work. */
export function inferTypes(plan: Plan, wanted: Type = 'dyn'): TypeInference {
  const walk = new TypeWalk()
  const found = walk.infer(plan)
  if (!mayBe(found, wanted)) {
    const instead = wanted.length > MOST_TO_LIST ? ', which cannot be used here' : ` instead of ${describeType(wanted)}`
    walk.problems.push({ plan, wanted, message: `found ${describeType(found)}${instead}` })
  }
  return walk
}

const MOST_TO_LIST = 4

class TypeWalk implements TypeInference {
  readonly problems: TypeProblem[] = []
  readonly types = new Map<Plan, Type>()
  readonly #locals = new Map<number, Type>()

  infer(plan: Plan): Type {
    const type = this.#typeOf(plan)
    this.types.set(plan, type)
    return type
  }

  #typeOf(plan: Plan): Type {
    switch (plan.kind) {
      case 'constant':
        return typeOfValue(plan.value)
      case 'failure':
        return never
      case 'root':
      case 'field':
      case 'header':
        return declaredType(plan)
      case 'view':
        return declaredType(plan.path)
      case 'optionalPath':
        return optionalType(declaredType(plan.path))
      case 'hasPath':
        return bool
      case 'local':
        return this.#locals.get(plan.local) ?? 'dyn'
      case 'select':
      case 'index':
      case 'optionalIndex':
      case 'has':
        return this.#member(plan)
      case 'call':
        return this.#call(plan)
      case 'logic':
        for (const item of plan.items) this.#expect(item, bool, `\`${plan.operator}\` takes bools`)
        return bool
      case 'not':
        this.#expect(plan.operand, bool, '`!` takes a bool')
        return bool
      case 'negate':
        return resultOf(negation, [this.#expect(plan.operand, negatable, '`-` takes an int or a double')]) ?? never
      case 'binary':
        return this.#binary(plan)
      case 'conditional':
        this.#expect(plan.test, bool, 'the condition of `?:` is a bool')
        return join(this.infer(plan.yes), this.infer(plan.no))
      case 'list':
        return listOf(this.#joined(plan.items))
      case 'map':
        return this.#map(plan)
      case 'loop':
        return this.#loop(plan)
      case 'bind':
        this.#locals.set(plan.local, this.infer(plan.value))
        return this.infer(plan.body)
      case 'default':
        return join(without(this.infer(plan.value), nullType), this.infer(plan.fallback))
      case 'coalesce':
        return plan.items.map((item) => this.infer(item)).reduce(join, nullType)
      case 'orElse':
        return this.#orElse(plan)
      case 'optionalMap':
        return this.#optionalMap(plan)
    }
  }

  #refuse(plan: Plan, message: string): Type {
    this.problems.push({ plan, message })
    // `never` fits every type, so one mistake is reported once.
    return never
  }

  #expect(plan: Plan, wanted: Type, rule: string): Type {
    const type = this.infer(plan)
    if (mayBe(type, wanted)) return type
    this.problems.push({ plan, wanted, message: `${rule}, found ${describeType(type)}` })
    return never
  }

  #member(plan: Plan & { kind: 'select' | 'has' | 'index' | 'optionalIndex' }): Type {
    const operand = this.infer(plan.operand)
    const key = 'key' in plan ? this.infer(plan.key) : string
    const type = plan.kind === 'optionalIndex' ? optionalMemberType(operand, key) : memberType(operand, key)
    if (type !== undefined) return plan.kind === 'has' ? bool : type
    const what =
      'field' in plan
        ? `field \`${plan.field}\``
        : memberOf(operand, 'list')
          ? `item at a ${describeType(key)}`
          : 'items'
    return this.#refuse(plan, `${describeType(operand)} has no ${what}`)
  }

  #binary(plan: Plan & { kind: 'binary' }): Type {
    const { operator } = plan
    const [left, right] = [this.infer(plan.left), this.infer(plan.right)]
    const type = binaryType(operator, left, right)
    if (type !== undefined) return type
    const isEquality = operator === '==' || operator === '!='
    this.#refuse(plan, `\`${operator}\` has no overload for ${describeType(left)} and ${describeType(right)}`)
    return isEquality || operator === 'in' ? bool : never
  }

  #call(plan: Plan & CallNode): Type {
    const args = plan.args.map((arg) => this.infer(arg))
    const definitions = [...plan.methods, ...(plan.fallback === undefined ? [] : [plan.fallback])]
    // A function that is not strict has a result even for errors.
    if (definitions.some(({ overloads, strict }) => overloads === undefined || strict === false)) return 'dyn'
    const overloads = definitions.flatMap((definition) => definition.overloads ?? [])
    const type = resultOf(overloads, args)
    if (type !== undefined) return type
    const expected = overloads
      .filter(({ takes, rest }) => rest !== undefined || takes.length === args.length)
      .map(({ takes }) => `\`${describeCall(plan.label, takes)}\``)
    return this.#refuse(plan, `found \`${describeCall(plan.label, args)}\`, expected ${expected.join(' or ')}`)
  }

  #joined(items: readonly { value: Plan; optional: boolean }[]): Type {
    return items.map(({ value, optional }) => this.#item(value, optional)).reduce(join, never)
  }

  /** `?value` is an optional; the type of the item is the type inside the optional. */
  #item(value: Plan, optional: boolean): Type {
    if (!optional) return this.infer(value)
    return partOf(this.#expect(value, optionalType('dyn'), '`?` takes an optional'), 'optional_type', 0)
  }

  #map({ entries }: Plan & { kind: 'map' }): Type {
    const keys = entries.map(({ key }) => this.#expect(key, keyTypes, 'a key is a string, bool, int or uint'))
    return mapOf(within(keys.reduce(join, never), keyTypes), this.#joined(entries))
  }

  #loop(loop: Plan & LoopNode): Type {
    const isMapOnly = loop.values || loop.macro === 'filterKeys'
    const range = isMapOnly
      ? within(this.#expect(loop.range, map, 'this macro iterates over a map'), map)
      : within(this.#expect(loop.range, [...list, ...map], 'this macro iterates over a list or a map'), [
          ...list,
          ...map,
        ])
    const [keys, values] = [partOf(range, 'map', 0), partOf(range, 'map', 1)]
    const [items, positions] = [partOf(range, 'list', 0), memberOf(range, 'list') ? int : never]
    const [first, second] = loop.locals
    this.#locals.set(first, loop.values ? values : join(second === undefined ? items : positions, keys))
    if (second !== undefined) this.#locals.set(second, join(items, values))
    if (loop.filter !== null) this.#expect(loop.filter, bool, 'a condition is a bool')
    if (loop.macro === 'toList') return listOf(this.infer(loop.body))
    if (loop.macro === 'toMap')
      return mapOf(join(second === undefined ? items : positions, keys), this.infer(loop.body))
    this.#expect(loop.body, bool, 'a condition is a bool')
    return loop.macro === 'filterKeys' ? mapOf(keys, values) : bool
  }

  #orElse(plan: Plan & { kind: 'orElse' }): Type {
    const operand = within(this.#expect(plan.operand, anyOptional, '`or` and `orValue` need an optional'), anyOptional)
    const inner = plan.unwrap ? partOf(operand, 'optional_type', 0) : operand
    return join(inner, this.infer(plan.alternative))
  }

  #optionalMap(plan: Plan & { kind: 'optionalMap' }): Type {
    const operand = this.#expect(plan.operand, anyOptional, '`optMap` and `optFlatMap` need an optional')
    this.#locals.set(plan.local, partOf(operand, 'optional_type', 0))
    if (!plan.flat) return optionalType(this.infer(plan.body))
    const body = within(this.#expect(plan.body, anyOptional, '`optFlatMap` takes an optional'), anyOptional)
    return join(optionalType(never), body)
  }
}

const anyOptional = optionalType('dyn')
const keyTypes = oneOf(string, bool, int, uint)
const negatable = negation.flatMap(({ takes }) => takes.flatMap((type) => (type === 'dyn' ? [] : type)))

/** Renders a call with types in place of values: `string.startsWith(int)`. The label of a method begins with a dot. */
function describeCall(label: string, args: readonly Type[]): string {
  const name = label.slice(0, label.indexOf('('))
  const texts = args.map(describeType)
  if (!name.startsWith('.')) return `${name}(${texts.join(', ')})`
  const [receiver = '', ...others] = texts
  return `${receiver.includes(' or ') ? `(${receiver})` : receiver}${name}(${others.join(', ')})`
}
